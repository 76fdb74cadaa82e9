// Perplexity per token, word and character.
#pragma once

#include <string_view>

#include "heed/base/index.h"

namespace heed::metrics {

// The length of a text in each unit. Tokens are the model's own, with those that it must predict
// besides the text (ends of lines); words are separated by white space, characters are code points.
struct TextLength {
  Index tokens = 0;
  Index words = 0;
  Index characters = 0;

  void add(std::string_view text, Index num_tokens);
};

// exp(-log p / units). Only models with the same tokens can be compared by the first; the others
// compare all, since they spread the same total over units that no tokenizer can choose.
struct Perplexity {
  double token = 0;
  double word = 0;
  double character = 0;
};

// From the sum of -log p, natural, over the whole text. A unit that the text has none of gives
// infinity. Refuses a sum that is negative.
Perplexity perplexity(double negative_log_likelihood, const TextLength& length);

}  // namespace heed::metrics
