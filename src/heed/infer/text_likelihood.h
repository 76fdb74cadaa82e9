// How likely a language model finds a whole running text.
#pragma once

#include <span>
#include <string>

#include "heed/models/language_model.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

struct TextLikelihood {
  double negative_log_likelihood = 0;  // the sum of -log p over all tokens, natural
  Index num_tokens = 0;
};

// All tokens of the lines and of their ends, after the end of a line. The text is read in windows
// as long as the model's context, one behind the other, so that a token sees what stands before it
// in its window.
TextLikelihood text_likelihood(const models::LanguageModel& model, const text::Tokenizer& tokenizer,
                               std::span<const std::string> lines);

}  // namespace heed::infer
