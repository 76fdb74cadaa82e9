#include "heed/nn/norm.h"

#include "heed/ops/norm.h"

namespace heed::nn {

Norm::Norm(NormKind kind, Index dim, const Initializer& initializer)
    : kind_(kind), gain_(initializer.constant({dim}, 1)) {
  if (kind_ == NormKind::layer) bias_ = initializer.constant({dim}, 0);
}

Tensor Norm::forward(const Tensor& x) const {
  return kind_ == NormKind::layer ? ops::layer_norm(x, gain_, bias_) : ops::rms_norm(x, gain_);
}

void Norm::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("gain", gain_);
  if (bias_.is_defined()) visitor.parameter("bias", bias_);
}

}  // namespace heed::nn
