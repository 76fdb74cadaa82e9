// The special tokens of a model's input: before and after a text, and between the texts of a
// pair.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed::text {

// Heed's own models read a </s>, and pairs as a </s> b </s>. BERT reads [CLS] a [SEP] b [SEP], with
// the second text and its [SEP] of type 1.
struct SequenceTemplate {
  std::vector<int> prefix = {};
  std::vector<int> suffix = {};  // after the last text
  // After the first text of a pair. Nothing: the model's files say nothing that we can do of pairs.
  std::optional<std::vector<int>> between = std::vector<int>{};
  int first_type = 0;
  int second_type = 0;

  std::vector<int> single(std::span<const int> text) const;
  // Refuses (ErrorKind::model) a template that is for single texts.
  std::vector<int> pair(std::span<const int> first, std::span<const int> second) const;

  // How many special tokens a single text gets.
  Index num_added() const { return std::ssize(prefix) + std::ssize(suffix); }
  // Do tokens of different parts have different types?
  bool has_types() const { return first_type != 0 || second_type != 0; }
  // The type of each token of what single() and pair() gave; none when all are 0. A first text that
  // holds the tokens between texts itself counts as ended there.
  std::vector<int> types(std::span<const int> sequence) const;

  // Cuts the end of a text within what single() gave, down to so many tokens. True: there was
  // something to cut.
  bool truncate(std::vector<int>& sequence, Index max_tokens) const;
  // The same for what pair() gave: cuts the longer text until both are as long, then both.
  bool truncate_pair(std::vector<int>& sequence, Index max_tokens) const;

  friend bool operator==(const SequenceTemplate&, const SequenceTemplate&) = default;

 private:
  // Where the first text ends within a pair; of a single text the end of the text.
  Index end_of_first(std::span<const int> sequence) const;
};

// Of the tokenizers that Heed trains.
SequenceTemplate own_sequence();

}  // namespace heed::text
