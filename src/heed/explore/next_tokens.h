// The next token: the model's probabilities, and those after temperature and the filters of
// sampling.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "heed/explore/model_session.h"
#include "heed/explore/recording.h"
#include "heed/infer/sampling.h"

namespace heed::explore {

struct NextToken {
  int token = 0;
  float logit = 0;
  double probability = 0;  // of the model
  bool is_kept = false;    // by temperature, top-k, top-p and min-p
  double chance = 0;       // of being drawn
};

// The `count` most likely tokens of one row of logits, most likely first; equal ones by token.
// Tokens of minus infinity are left out.
std::vector<NextToken> next_tokens(std::span<const float> logits,
                                   const infer::SamplingOptions& options, Index count);

// Those after a prompt (language models, the source) or after the decoder's input (translation, the
// target). Tokens that a language model never generates are left out. Refuses (ErrorKind::usage)
// other models and an empty text.
std::vector<NextToken> next_tokens(const ModelSession& session, const PassInput& input,
                                   const nn::Interventions* interventions,
                                   const infer::SamplingOptions& options, Index count);

nlohmann::json to_json(std::span<const NextToken> tokens, const ModelSession& session);

}  // namespace heed::explore
