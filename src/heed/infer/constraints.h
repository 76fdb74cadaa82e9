// Words that a text may not hold, and words that it must: as sequences of tokens.
//
// Knows tokens alone, so that sampling and beam search share it. A word that the vocabulary could
// also spell with other tokens is another sequence.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

using TokenSequence = std::vector<int>;

class Constraints {
 public:
  Constraints() = default;  // everything goes
  // Refuses (ErrorKind::usage) empty sequences, and required ones that hold a forbidden one. A
  // sequence that is named twice counts once.
  Constraints(std::vector<TokenSequence> forbidden, std::vector<TokenSequence> required);
  // The same of words as the tokenizer cuts them; messages name the word. Refuses
  // (ErrorKind::usage) words that are blank, or not in the vocabulary.
  //
  // Where no space is thought before a text, words begin with one as they do within a text: a
  // required word has it, unless its first character is a space or punctuation, and a forbidden one
  // may come neither with it nor without.
  static Constraints of_words(std::span<const std::string> forbidden,
                              std::span<const std::string> required,
                              const text::Tokenizer& tokenizer);

  bool has_forbidden() const { return !forbidden_.empty(); }
  bool has_required() const { return !required_.empty(); }
  const std::vector<TokenSequence>& required() const { return required_; }

  // The tokens that would complete a forbidden sequence right behind `past`: rising, each once.
  std::vector<int> forbidden_after(std::span<const int> past) const;
  // Minus infinity for these.
  void forbid(std::span<float> logits, std::span<const int> past) const;

  // How many required sequences are not in the ids yet.
  Index num_missing(std::span<const int> ids) const;
  // These, as the words that they were; nothing for those that were never words.
  std::vector<std::string> missing_words(std::span<const int> ids) const;
  // How many tokens of required sequences the ids hold: whole sequences, and of each missing one
  // the beginning with which the ids end.
  Index num_placed(std::span<const int> ids) const;
  // The tokens that begin or continue a missing sequence right behind `past`: rising, each once.
  std::vector<int> wanted_after(std::span<const int> past) const;

  // How many tokens must come behind the ids until they hold everything, one sequence after the
  // other: those of the missing sequences, but for a beginning with which the ids end.
  Index num_needed(std::span<const int> ids) const;
  // When another token behind `past` would leave less than `room` - 1 tokens for what is missing:
  // those that leave the most. Rising, each once; none when there is room for any.
  std::vector<int> required_next(std::span<const int> past, Index room) const;

 private:
  std::vector<TokenSequence> forbidden_, required_;
  std::map<TokenSequence, std::string> words_;  // of required sequences
};

}  // namespace heed::infer
