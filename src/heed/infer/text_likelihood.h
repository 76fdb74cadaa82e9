// The likelihood of a whole text under a language model.
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

// Of all tokens of the lines and their ends, after a line end. The text is read in consecutive
// windows as long as the model's context; a token sees the tokens before it in its window. Refuses
// (ErrorKind::model) a model whose likelihood is not finite.
TextLikelihood text_likelihood(const models::LanguageModel& model, const text::Tokenizer& tokenizer,
                               std::span<const std::string> lines);

}  // namespace heed::infer
