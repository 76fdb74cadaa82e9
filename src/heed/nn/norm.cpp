#include "heed/nn/norm.h"

#include "heed/ops/elementwise.h"
#include "heed/ops/norm.h"

namespace heed::nn {

Norm::Norm(const NormOptions& options, Index dim, const Initializer& initializer)
    : options_(options), gain_(initializer.constant({dim}, options.has_unit_offset ? 0 : 1)) {
  if (options_.kind == NormKind::layer && options_.has_bias) {
    bias_ = initializer.constant({dim}, 0);
  }
}

Tensor Norm::forward(const Tensor& x) const {
  const Tensor gain = options_.has_unit_offset ? ops::add_scalar(gain_, 1) : gain_;
  if (options_.kind == NormKind::rms) return ops::rms_norm(x, gain, options_.epsilon);
  return ops::layer_norm(x, gain, bias_, options_.epsilon);
}

void Norm::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("gain", gain_);
  if (bias_.is_defined()) visitor.parameter("bias", bias_);
}

}  // namespace heed::nn
