// Tokens to text as they come: what is certain at once, and never half a character.
#pragma once

#include <string>

#include "heed/text/tokenizer.h"

namespace heed::text {

// Whatever comes out of add and finish, one after the other, is what Tokenizer::decode makes of all
// the ids.
class TextStream {
 public:
  // `goes_on`: the ids continue a text, so that a space before the first is part of what comes out.
  explicit TextStream(Tokenizer tokenizer, bool goes_on = false);

  // The text that this token makes certain.
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
