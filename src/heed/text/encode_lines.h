// Many lines to tokens at once, by all threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

struct LineEncoding {
  bool with_end = false;  // append the end token to every line that has tokens
};

// The tokens of each line; nothing for a line without any. Does not depend on the number of
// threads.
std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const Tokenizer& tokenizer,
                                           const LineEncoding& encoding = {});

// The tokens of two texts in one sequence, each with its end token: a </s> b </s>. Nothing for a
// pair of which one text has no tokens. Refuses different numbers of first and second texts.
std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const Tokenizer& tokenizer);

}  // namespace heed::text
