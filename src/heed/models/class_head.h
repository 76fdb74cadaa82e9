// What every classifier ends with: one vector for each sequence, and from it the classes.
#pragma once

#include <span>

#include "heed/core/spans.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"
#include "heed/nn/module.h"

namespace heed::models {

struct ClassifierLoss {
  Tensor loss;                         // [], the sum over sequences, label-smoothed and weighted
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing and weights
};

class ClassHead {
 public:
  ClassHead() = default;
  // The labels of the configuration are the classes, in that order.
  ClassHead(const TransformerConfig& config, Rng& rng);

  // An encoder's output, S sequences [N, D] -> [S, D], as the configuration's pooling says.
  Tensor pooled(const Packed& encoded) const;
  Tensor logits(const Tensor& pooled, nn::ForwardContext& context) const;  // -> [S, classes]

  // Every sequence counts as much as `class_weights` says of its class; once when there are none.
  ClassifierLoss loss(const Tensor& logits, std::span<const int> classes,
                      std::span<const float> class_weights = {}) const;

  // `pooling` and `head`, without a name of its own before them.
  void visit_parameters(nn::ParameterVisitor& visitor);

 private:
  Pooling pooling_ = Pooling::mean;
  float dropout_ = 0;
  float label_smoothing_ = 0;
  Tensor pooling_query_;  // [1, D], when attention pools
  nn::Linear head_;
};

}  // namespace heed::models
