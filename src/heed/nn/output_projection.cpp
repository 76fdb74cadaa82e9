#include "heed/nn/output_projection.h"

#include "heed/base/error.h"
#include "heed/ops/argmax_projection.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::nn {

OutputProjection::OutputProjection(const OutputProjectionOptions& options,
                                   const Initializer& initializer)
    : options_(options) {
  if (const auto& transform = options.transform) {
    transform_ = Linear(transform->hidden_dim, options.input_dim, initializer);
    norm_ = Norm(transform->norm, options.input_dim, initializer);
  }
  if (!options.is_tied) {
    weight_ =
        Linear(options.input_dim, options.vocabulary, initializer, {.has_bias = false}).weight();
  }
  if (options.has_bias) bias_ = initializer.constant({options.vocabulary}, 0);
}

Tensor OutputProjection::input(const Tensor& hidden) const {
  Tensor x = hidden;
  if (options_.transform) {
    x = norm_.forward(activate(options_.transform->activation, transform_.forward(x)));
  }
  return options_.scale == 1 ? x : ops::scale(x, options_.scale);
}

Tensor OutputProjection::logits(const Tensor& hidden, const Weight& embedding) const {
  const Tensor logits = linear(input(hidden), weight(embedding), bias_);
  return options_.softcap > 0 ? ops::softcap(logits, options_.softcap) : logits;
}

ops::ProjectionLoss OutputProjection::loss(const Tensor& hidden, const Weight& embedding,
                                           std::span<const int> targets,
                                           float label_smoothing) const {
  const Weight& output = weight(embedding);
  const Tensor x = input(hidden);
  if (!output.values.is_defined()) {
    return ops::projection_cross_entropy(x, output.packed, bias_, targets, label_smoothing,
                                         options_.softcap);
  }
  return ops::projection_cross_entropy(x, output.values, bias_, targets, label_smoothing,
                                       options_.softcap);
}

ops::ArgmaxProjection OutputProjection::argmax(const Weight& embedding) const {
  check(!options_.transform, "output projection: expected no transform to find the largest logit");
  const Tensor table = weight(embedding).floats();
  // The cap rounds large logits to equal ones, so that the first of them is the largest.
  if (options_.softcap > 0) return ops::ArgmaxProjection::never(table.dim(1));
  return ops::ArgmaxProjection(table, {.bias = bias_, .scale = options_.scale});
}

void OutputProjection::visit_parameters(ParameterVisitor& visitor) {
  if (options_.transform) {
    visitor.child("transform", transform_);
    visitor.child("norm", norm_);
  }
  if (!options_.is_tied) visitor.parameter("weight", weight_);
  if (bias_.is_defined()) visitor.parameter("bias", bias_);
}

}  // namespace heed::nn
