// Lexical constraints: forbidden and required words, as sequences of tokens, for sampling and beam
// search. The same word in other tokens is another sequence.
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
  Constraints() = default;  // none
  // Refuses (ErrorKind::usage) empty sequences, and required ones that hold a forbidden one. A
  // sequence that is named twice counts once.
  Constraints(std::vector<TokenSequence> forbidden, std::vector<TokenSequence> required);
  // The same of words as the tokenizer segments them; messages name the word. Refuses
  // (ErrorKind::usage) words that are blank, or not in the vocabulary.
  //
  // Where the tokenizer puts no space before a text, a required word gets the one that it has
  // within a text, unless its first character is a space or punctuation, and a word is forbidden
  // with and without it.
  static Constraints of_words(std::span<const std::string> forbidden,
                              std::span<const std::string> required,
                              const text::Tokenizer& tokenizer);

  bool has_forbidden() const { return !forbidden_.empty(); }
  bool has_required() const { return !required_.empty(); }
  const std::vector<TokenSequence>& required() const { return required_; }

  // The tokens that would complete a forbidden sequence right after `past`: rising, each once.
  std::vector<int> forbidden_after(std::span<const int> past) const;
  // Minus infinity for these.
  void forbid(std::span<float> logits, std::span<const int> past) const;

  // How many required sequences are not in the ids yet.
  Index num_missing(std::span<const int> ids) const;
  // These as words; sequences that were not given as words are left out.
  std::vector<std::string> missing_words(std::span<const int> ids) const;
  // How many tokens of required sequences the ids hold: whole sequences, and of each missing one
  // the prefix with which the ids end.
  Index num_placed(std::span<const int> ids) const;
  // The tokens that start or continue a missing sequence right after `past`: rising, each once.
  std::vector<int> wanted_after(std::span<const int> past) const;

  // How many more tokens the ids need to hold all sequences, one after the other: those of the
  // missing sequences, less the longest prefix of one with which the ids end.
  Index num_needed(std::span<const int> ids) const;
  // When any other token after `past` would leave too few of `num_left` tokens for the missing
  // sequences: the tokens that leave the most. Rising, each once; none while any token may come.
  std::vector<int> required_next(std::span<const int> past, Index num_left) const;

 private:
  std::vector<TokenSequence> forbidden_, required_;
  std::map<TokenSequence, std::string> words_;  // of required sequences
};

}  // namespace heed::infer
