// A linear layer: y = x W^T + b.
#pragma once

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::nn {

struct LinearOptions {
  float gain = 1;  // of the initial weights
  bool has_bias = true;
};

class Linear {
 public:
  Linear() = default;
  // Uniform in +-gain * sqrt(6 / (in + out)) (Glorot and Bengio 2010), bias 0.
  Linear(Index in_dim, Index out_dim, const Initializer& initializer, LinearOptions options = {});

  Tensor forward(const Tensor& x) const;  // [N, I] -> [N, O]
  void visit_parameters(ParameterVisitor& visitor);

  const Weight& weight() const { return weight_; }

 private:
  Weight weight_;  // [O, I]
  Tensor bias_;    // [O], or undefined
};

}  // namespace heed::nn
