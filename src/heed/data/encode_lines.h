#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::data {

// The tokens of each line and the end token behind them; nothing for a line without any. Does not
// depend on the number of threads.
std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const text::Tokenizer& tokenizer);

}  // namespace heed::data
