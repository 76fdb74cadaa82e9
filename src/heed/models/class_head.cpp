#include "heed/models/class_head.h"

#include "heed/base/error.h"
#include "heed/models/class_loss.h"
#include "heed/models/pooling.h"
#include "heed/ops/binary_cross_entropy.h"
#include "heed/ops/elementwise.h"

namespace heed::models {

ClassHead::ClassHead(const TransformerConfig& config, const nn::Initializer& initializer)
    : problem_type_(config.problem_type),
      pooling_(config.pooling),
      label_smoothing_(config.label_smoothing),
      logits_(config, initializer) {
  if (pooling_ == Pooling::attention) {
    pooling_query_ = initializer.constant({1, config.model_dim}, 0);  // a mean at first
  }
}

void ClassHead::visit_parameters(nn::ParameterVisitor& visitor) {
  if (pooling_query_.is_defined()) visitor.parameter("pooling.query", pooling_query_);
  logits_.visit_parameters(visitor);
}

Tensor ClassHead::pool(const Packed& encoded) const {
  return models::pool(encoded, pooling_, pooling_query_);
}

Tensor ClassHead::logits(const Tensor& pooled, nn::ForwardContext& context) const {
  return logits_.forward(pooled, context);
}

Loss ClassHead::loss(const Tensor& logits, std::span<const int> classes,
                     std::span<const float> class_weights) const {
  return class_loss(logits, classes, label_smoothing_, class_weights);
}

Loss ClassHead::loss(const Tensor& logits, const Tensor& targets) const {
  check(logits.shape() == targets.shape(), "classifier: expected targets ", logits.shape(),
        ", got ", targets.shape());
  if (problem_type_ == ProblemType::regression) {
    const Tensor error = ops::subtract(logits, targets);
    const Tensor loss = ops::sum(ops::multiply(error, error));
    return {loss, loss.item()};
  }
  const float share = 1 / static_cast<float>(logits.dim(1));
  const auto loss_of = [&](const Tensor& x, const Tensor& y) {
    return ops::scale(ops::sum(ops::binary_cross_entropy(x, y)), share);
  };
  return {loss_of(logits, smoothed(targets)), loss_of(logits.detach(), targets).item()};
}

// A part of the certainty goes to the other answer: as label smoothing over the two answers.
Tensor ClassHead::smoothed(const Tensor& targets) const {
  if (label_smoothing_ == 0) return targets;
  return ops::add_scalar(ops::scale(targets, 1 - label_smoothing_), label_smoothing_ / 2);
}

}  // namespace heed::models
