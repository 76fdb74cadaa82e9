// Logits processors: the rules that change the scores of the next token before one is chosen.
#pragma once

#include <span>

#include "heed/models/generation_config.h"
#include "heed/text/special_tokens.h"

namespace heed::infer {

// One sequence, as the rules see it.
struct TokenHistory {
  std::span<const int> ids;     // the prompt, or the token that starts a decoder, and what follows
  Index num_prompt = 0;         // of the ids; no prompt: 1
  std::span<const int> source;  // what the encoder read, or the prompt
  Index max_new_tokens = 0;     // the end token counts
};

bool has_any(const models::TokenRules& rules);

// Applies the rules one after another. `scores`: of the vocabulary; logits or log-probabilities. A
// token that may not come becomes minus infinity; one that must becomes 0, the others minus
// infinity.
void apply_rules(std::span<float> scores, const TokenHistory& history,
                 const models::TokenRules& rules, const text::SpecialTokens& tokens);

// Refuses (ErrorKind::model) ids outside the vocabulary.
void check_rules(const models::TokenRules& rules, Index vocabulary);

}  // namespace heed::infer
