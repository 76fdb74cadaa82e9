// Attribution of a prediction to the tokens that the model read, by three methods: attention
// weights, gradient x input (saliency) and leave-one-out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "heed/explore/prediction.h"

namespace heed::explore {

struct TokenAttribution {
  int token = 0;
  // Mean attention weight over the heads of the last layer in which the predicting position looks
  // at the source. A classifier that pools all its tokens looks from all of them: their mean.
  double attention = 0;
  // d log p / d x . x, with the vector x of the token before positions are added. None for
  // quantized weights, which have no gradient.
  std::optional<double> gradient_x_input = std::nullopt;
  // log p with the token, less log p without it. None where nothing would be left to read, for a
  // token that the model adds itself, for the mask that is filled, and for long texts.
  std::optional<double> leave_one_out = std::nullopt;
};

// The longest text whose tokens are left out one after the other: each costs a pass.
inline constexpr Index max_left_out = 256;

struct Attribution {
  Prediction prediction;
  double log_probability = 0;
  std::vector<TokenAttribution> inputs;  // what the model saw of the source (tokens_seen)
};

// Refuses what prediction_of refuses.
Attribution attribution(const ModelSession& session, const PassInput& input,
                        const nn::Interventions& interventions, const PredictionTarget& target);

// With "attention_from", the queries whose attention it is: "decoder", the decoder position that
// predicts; "position", the predicting position of a model with one sequence; "all", the mean over
// all positions.
nlohmann::json to_json(const Attribution& attribution, const ModelSession& session);

}  // namespace heed::explore
