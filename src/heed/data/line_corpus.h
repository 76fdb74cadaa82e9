// Single lines as token ids.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/translation_corpus.h"
#include "heed/text/tokenizer.h"

namespace heed::data {

// Keeps the lines that can be trained on and counts the others. Line i is its i-th kept line.
class LineCorpus {
 public:
  // Leaves out blank lines and those of more than `max_length` tokens, special ones included. The
  // result does not depend on the number of threads. Refuses (ErrorKind::data) a text of which no
  // line remains.
  static LineCorpus tokenize(std::span<const std::string> lines, const text::Tokenizer& tokenizer,
                             const LengthOptions& options);
  // The same of lines that are tokenized already; a blank one has no tokens.
  static LineCorpus of_tokens(std::vector<std::vector<int>> lines,
                              const text::SequenceTemplate& sequence, const LengthOptions& options);

  // The same for pairs of texts, each as one line.
  static LineCorpus tokenize_pairs(std::span<const std::string> first,
                                   std::span<const std::string> second,
                                   const text::Tokenizer& tokenizer, const LengthOptions& options);

  Index size() const { return std::ssize(lines_); }
  // In the tokenizer's template: of Heed's own, the last is the end token.
  std::span<const int> ids(Index line) const { return lines_[line]; }
  // Sizes for a batch plan; a line has one side.
  std::span<const PairSize> sizes() const { return sizes_; }

  Index place(Index line) const { return places_[line]; }  // where the line stood, from 0

  Index num_blank() const { return num_blank_; }
  Index num_too_long() const { return num_too_long_; }
  Index num_truncated() const { return num_truncated_; }
  // Of all lines that are not blank, before they are truncated.
  const TextLengths& lengths() const { return lengths_; }

 private:
  using Truncate = std::function<bool(std::vector<int>& ids, Index max_tokens)>;
  // Blank lines have no tokens.
  LineCorpus(std::vector<std::vector<int>> encoded, const LengthOptions& options,
             const Truncate& truncate);

  std::vector<std::vector<int>> lines_;
  std::vector<PairSize> sizes_;
  std::vector<Index> places_;
  Index num_blank_ = 0;
  Index num_too_long_ = 0;
  Index num_truncated_ = 0;
  TextLengths lengths_;
};

}  // namespace heed::data
