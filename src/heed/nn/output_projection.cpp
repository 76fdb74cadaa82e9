#include "heed/nn/output_projection.h"

#include "heed/nn/linear.h"
#include "heed/ops/argmax_projection.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::nn {

OutputProjection::OutputProjection(Index model_dim, Index vocabulary,
                                   const Initializer& initializer)
    : weight_(Linear(model_dim, vocabulary, initializer, {.has_bias = false}).weight()) {}

Tensor OutputProjection::logits(const Tensor& hidden, const Weight& embedding) const {
  return linear(hidden, weight(embedding));
}

ops::ProjectionLoss OutputProjection::loss(const Tensor& hidden, const Weight& embedding,
                                           std::span<const int> targets,
                                           float label_smoothing) const {
  const Weight& output = weight(embedding);
  if (!output.values.is_defined()) {
    return ops::projection_cross_entropy(hidden, output.packed, targets, label_smoothing);
  }
  return ops::projection_cross_entropy(hidden, output.values, Tensor(), targets, label_smoothing);
}

ops::ArgmaxProjection OutputProjection::argmax(const Weight& embedding) const {
  return ops::ArgmaxProjection(weight(embedding).floats());
}

void OutputProjection::visit_parameters(ParameterVisitor& visitor) {
  if (!is_tied()) visitor.parameter("weight", weight_);
}

}  // namespace heed::nn
