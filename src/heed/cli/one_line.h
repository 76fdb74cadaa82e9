// Texts as parts of a line of output.
#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

// The text without anything that ends a line or a field, or that a terminal obeys. Control
// characters and Unicode's line and paragraph separators become escapes: \n, \r, \t, \x1b, \u2028.
// All else stays, a backslash too, so only JSON output can be read back without doubt.
std::string on_one_line(std::string_view text);

// The same for text of several lines: line ends and tabs stay.
std::string on_several_lines(std::string_view text);

}  // namespace heed::cli
