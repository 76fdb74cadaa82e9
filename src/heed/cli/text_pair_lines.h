// Lines that hold two texts each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct TextPairLines {
  std::vector<std::string> first, second;
};

// Two texts with a tab between them or, in JSON, an array of two strings. Refuses (ErrorKind::data)
// other lines, by their number.
TextPairLines parse_text_pairs(std::span<const std::string> lines, LineFormat format,
                               Index first_line);

}  // namespace heed::cli
