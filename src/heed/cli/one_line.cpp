#include "heed/cli/one_line.h"

#include "heed/base/printable.h"

namespace heed::cli {

std::string on_one_line(std::string_view text) { return escape_controls(text); }

std::string on_several_lines(std::string_view text) { return escape_controls(text, "\n\t"); }

}  // namespace heed::cli
