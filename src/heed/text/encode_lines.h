// Many lines to tokens at once, by all threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

// Which special tokens a line gets that has tokens.
enum class LineForm {
  text,    // none
  prompt,  // those in front, for a language model
  input,   // all that an encoder reads
  output,  // the end token; pieces are those of the target
};

// The tokens of each line; nothing for a line without any. Does not depend on the number of
// threads.
std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const Tokenizer& tokenizer,
                                           LineForm form = LineForm::text);

// The tokens of "\n" within a text: without those of a space that the tokenizer puts before every
// text.
std::vector<int> encode_line_end(const Tokenizer& tokenizer);

// The tokens of two texts in one sequence, as the tokenizer's template has it: a </s> b </s>.
// Nothing for a pair of which one text has no tokens. Refuses different numbers of first and second
// texts, and (ErrorKind::model) a tokenizer without a template for pairs.
std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const Tokenizer& tokenizer);

}  // namespace heed::text
