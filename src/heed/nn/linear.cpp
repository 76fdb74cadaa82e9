#include "heed/nn/linear.h"

#include <cmath>

namespace heed::nn {

Linear::Linear(Index in_dim, Index out_dim, const Initializer& initializer, LinearOptions options) {
  const double bound = options.gain * std::sqrt(6.0 / static_cast<double>(in_dim + out_dim));
  weight_.values = initializer.uniform({out_dim, in_dim}, bound);
  if (options.has_bias) bias_ = initializer.constant({out_dim}, 0);
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight_, bias_); }

void Linear::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_);
  if (bias_.is_defined()) visitor.parameter("bias", bias_);
}

}  // namespace heed::nn
