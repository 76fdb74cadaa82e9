// The head of a classifier: pooling to one vector for each sequence, and logits of the classes, or
// the number of a regression.
#pragma once

#include <span>

#include "heed/core/spans.h"
#include "heed/models/class_logits.h"
#include "heed/models/model.h"
#include "heed/nn/forward_context.h"

namespace heed::models {

class ClassHead {
 public:
  ClassHead() = default;
  // The labels of the configuration are the classes, in that order; a regression has one.
  ClassHead(const TransformerConfig& config, const nn::Initializer& initializer);

  // An encoder's output, S sequences [N, D] -> [S, D], as the configuration's pooling says.
  Tensor pool(const Packed& encoded) const;
  Tensor logits(const Tensor& pooled, nn::ForwardContext& context) const;  // -> [S, classes]

  // One class of several: every sequence counts by its class's weight; once without class weights.
  Loss loss(const Tensor& logits, std::span<const int> classes,
            std::span<const float> class_weights = {}) const;
  // Several labels: the mean over all labels of their binary cross-entropies, targets 0 or 1.
  // Regression: the squared error. Targets [S, labels]; the sum over the sequences.
  Loss loss(const Tensor& logits, const Tensor& targets) const;

  // `pooling` and those of ClassLogits, without a prefix.
  void visit_parameters(nn::ParameterVisitor& visitor);

 private:
  Tensor smoothed(const Tensor& targets) const;

  ProblemType problem_type_ = ProblemType::single_label;
  Pooling pooling_ = Pooling::mean;
  float label_smoothing_ = 0;
  Tensor pooling_query_;  // [1, D], for attention pooling
  ClassLogits logits_;
};

}  // namespace heed::models
