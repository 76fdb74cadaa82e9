// The feed-forward sub-layer: two linear layers with an activation between them, token by token.
//
// With a gate, a third layer of the input is activated instead, and multiplies the hidden values.
#pragma once

#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"

namespace heed::nn {

// gelu by the normal distribution, gelu_tanh its approximation by tanh, quick_gelu the one by
// x * sigmoid(1.702 x); silu: x * sigmoid(x); swiglu: silu with a gate.
enum class Activation { relu, gelu, swiglu, gelu_tanh, quick_gelu, silu };

Tensor activate(Activation activation, const Tensor& x);  // swiglu without its gate

struct FeedForwardOptions {
  Index model_dim = 0;
  Index hidden_dim = 0;
  Activation activation = Activation::relu;
  float dropout = 0;     // on the hidden values
  bool has_bias = true;  // of the linear layers
  bool has_gate = false;
};

class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(const FeedForwardOptions& options, const Initializer& initializer);

  Tensor forward(const Tensor& x, ForwardContext& context) const;  // [N, D] -> [N, D]
  void visit_parameters(ParameterVisitor& visitor);

 private:
  Tensor hidden(const Tensor& x) const;  // [N, D] -> [N, F], after the activation

  FeedForwardOptions options_;
  Linear hidden_;  // D -> F
  Linear gate_;    // D -> F, if there is one
  Linear output_;  // F -> D
};

}  // namespace heed::nn
