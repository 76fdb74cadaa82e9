// Incremental detokenization: text as tokens arrive, never half a character.
#pragma once

#include <span>
#include <string>

#include "heed/text/tokenizer.h"

namespace heed::text {

// The results of add and finish, one after another, are Tokenizer::decode of all the ids. Of a
// foreign tokenizer, bytes that are no UTF-8 may give another number of U+FFFD.
class TextStream {
 public:
  // `is_continuation`: the ids continue a text, so a space before the first one is kept.
  explicit TextStream(Tokenizer tokenizer, bool is_continuation = false);
  // Of ids that come after these: they continue a text unless all of these are special tokens.
  static TextStream after(std::span<const int> before, const Tokenizer& tokenizer);

  // The text that is final after this token.
  std::string add(int id);
  // What is left: bytes that never became a character, as U+FFFD.
  std::string finish();

 private:
  std::string take_characters();

  Tokenizer tokenizer_;
  bool is_at_start_;
  std::string bytes_;  // of the character that is not yet whole
};

}  // namespace heed::text
