// A matrix and a bias: y = x W^T + b.
#pragma once

#include "heed/nn/module.h"

namespace heed {
class Rng;
}

namespace heed::nn {

class Linear {
 public:
  Linear() = default;
  // Uniform in +-gain * sqrt(6 / (in + out)) (Glorot and Bengio 2010), bias 0.
  Linear(Index in_dim, Index out_dim, Rng& rng, float gain = 1, bool has_bias = true);

  Tensor forward(const Tensor& x) const;  // [N, I] -> [N, O]
  void visit_parameters(ParameterVisitor& visitor);

  const Tensor& weight() const { return weight_; }
  const ops::PackedMatrix& packed() const { return packed_; }
  const Tensor& bias() const { return bias_; }

 private:
  Tensor weight_;             // [O, I], or undefined once quantize_weights has been here
  Tensor bias_;               // [O], or undefined
  ops::PackedMatrix packed_;  // of the weight, once pack_weights or quantize_weights has been here
};

}  // namespace heed::nn
