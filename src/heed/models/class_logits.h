// The last layers of classifiers and taggers: from vectors to logits of the classes.
#pragma once

#include "heed/models/transformer_config.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"

namespace heed::models {

// A linear layer, after dropout; before it another with an activation, if the configuration has
// one.
class ClassLogits {
 public:
  ClassLogits() = default;
  // The labels of the configuration are the classes, in that order.
  ClassLogits(const TransformerConfig& config, const nn::Initializer& initializer);

  Tensor forward(const Tensor& x, nn::ForwardContext& context) const;  // [N, D] -> [N, classes]
  void visit_parameters(nn::ParameterVisitor& visitor);  // `head_layer` and `head`, no prefix

 private:
  HeadLayer head_layer_kind_ = HeadLayer::none;
  float dropout_ = 0;
  nn::Linear head_layer_;  // unless there is none
  nn::Linear head_;
};

}  // namespace heed::models
