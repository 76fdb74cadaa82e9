#include "heed/nn/linear.h"

#include <cmath>

#include "heed/base/random.h"
#include "heed/ops/linear.h"

namespace heed::nn {

Linear::Linear(Index in_dim, Index out_dim, Rng& rng, float gain, bool has_bias)
    : weight_(Tensor::empty({out_dim, in_dim})) {
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(in_dim + out_dim));
  if (!rng.is_silent()) {
    for (float& w : weight_.values()) w = static_cast<float>((2 * rng.uniform() - 1) * bound);
  }
  weight_.require_gradient();
  if (has_bias) {
    bias_ = Tensor::zeros({out_dim});
    bias_.require_gradient();
  }
}

Tensor Linear::forward(const Tensor& x) const {
  const bool use_packed = packed_.is_defined() && (!is_grad_enabled() || !weight_.is_defined());
  return use_packed ? ops::linear(x, packed_, bias_) : ops::linear(x, weight_, bias_);
}

void Linear::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_, packed_);
  if (bias_.is_defined()) visitor.parameter("bias", bias_);
}

}  // namespace heed::nn
