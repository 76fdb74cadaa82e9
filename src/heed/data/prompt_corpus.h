// Prompts and their answers as token ids, end to end: what a decoder-only model reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/text_lengths.h"
#include "heed/data/translation_corpus.h"
#include "heed/text/tokenizer.h"

namespace heed::data {

// Keeps the examples that can be trained on and counts the others. Example i is its i-th kept one.
class PromptCorpus {
 public:
  // Answer i belongs to prompt i. Each is tokenized by itself, as a prompt is before its text is
  // generated, so no token holds the end of one and the start of the other. Leaves out examples of
  // which one part is blank, and those of more than `max_length` tokens, the end token included.
  // The result does not depend on the number of threads. Refuses (ErrorKind::data) different
  // counts, and texts of which no example remains.
  static PromptCorpus tokenize(std::span<const std::string> prompts,
                               std::span<const std::string> answers,
                               const text::Tokenizer& tokenizer, Index max_length);

  Index size() const { return std::ssize(examples_); }
  std::span<const int> ids(Index example) const {
    return examples_[example];
  }  // with the end token
  Index prompt_length(Index example) const { return prompt_lengths_of_[example]; }
  // Of the answer, with the end token.
  Index answer_length(Index example) const {
    return std::ssize(examples_[example]) - prompt_length(example);
  }
  // Sizes for a batch plan: the tokens that the model reads, all but the last.
  std::span<const PairSize> sizes() const { return sizes_; }

  Index line(Index example) const { return lines_[example]; }  // where it stood, from 0

  Index num_blank() const { return num_blank_; }
  Index num_too_long() const { return num_too_long_; }
  // Of all examples that are not blank: of prompts, of answers with the end token, and of both.
  const TextLengths& prompt_lengths() const { return prompt_lengths_; }
  const TextLengths& answer_lengths() const { return answer_lengths_; }
  const TextLengths& lengths() const { return lengths_; }

 private:
  std::vector<std::vector<int>> examples_;
  std::vector<Index> prompt_lengths_of_;
  std::vector<PairSize> sizes_;
  std::vector<Index> lines_;
  Index num_blank_ = 0;
  Index num_too_long_ = 0;
  TextLengths prompt_lengths_, answer_lengths_, lengths_;
};

}  // namespace heed::data
