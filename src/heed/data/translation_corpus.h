// Pairs of sentences as token ids.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/text_lengths.h"
#include "heed/text/tokenizer.h"

namespace heed::data {

// How many tokens a pair takes in a batch; both sides count their end token.
struct PairSize {
  Index source = 0;
  Index target = 0;
};

struct LengthOptions {
  Index max_length = 256;  // texts that are longer, end token included, are left out
  // Sources, and lines of one side, are cut after so many tokens, special ones included; 0: none.
  Index truncate = 0;
};

// Keeps the pairs that can be trained on and counts the others. Pair i is its i-th kept pair.
class TranslationCorpus {
 public:
  // Line i of the source belongs to line i of the target. Leaves out pairs of which one side is
  // blank (text::is_blank). The result does not depend on the number of threads. Refuses
  // (ErrorKind::data) texts of different lengths, and texts of which no pair remains.
  static TranslationCorpus tokenize(std::span<const std::string> source,
                                    std::span<const std::string> target,
                                    const text::Tokenizer& tokenizer,
                                    const LengthOptions& options = {});

  // Other tokens for the same pairs: one sentence each, with its special tokens.
  void replace_ids(std::span<const std::vector<int>> source,
                   std::span<const std::vector<int>> target);

  Index size() const { return std::ssize(sizes_); }
  std::span<const int> source(Index pair) const { return slice(source_ids_, source_begin_, pair); }
  std::span<const int> target(Index pair) const { return slice(target_ids_, target_begin_, pair); }
  std::span<const PairSize> sizes() const { return sizes_; }

  Index line(Index pair) const { return lines_[pair]; }  // where the pair stood, from 0

  Index num_blank() const { return num_blank_; }        // pairs with nothing on one side
  Index num_too_long() const { return num_too_long_; }  // pairs beyond max_length
  Index num_truncated() const { return num_truncated_; }
  // Of all pairs that are not blank: of whole sources, of targets, and of the longer side, which
  // decides whether a pair is left out, after the source was truncated.
  const TextLengths& source_lengths() const { return source_lengths_; }
  const TextLengths& target_lengths() const { return target_lengths_; }
  const TextLengths& pair_lengths() const { return pair_lengths_; }

 private:
  void append(std::span<const int> source, std::span<const int> target);
  static std::span<const int> slice(const std::vector<int>& ids, const std::vector<Index>& begin,
                                    Index pair) {
    return std::span(ids).subspan(begin[pair], begin[pair + 1] - begin[pair]);
  }

  std::vector<int> source_ids_;  // every sentence as the encoder reads it
  std::vector<int> target_ids_;  // every sentence with its end token
  std::vector<Index> source_begin_{0};
  std::vector<Index> target_begin_{0};
  std::vector<PairSize> sizes_;
  std::vector<Index> lines_;
  Index num_blank_ = 0;
  Index num_too_long_ = 0;
  Index num_truncated_ = 0;
  TextLengths source_lengths_, target_lengths_, pair_lengths_;
};

}  // namespace heed::data
