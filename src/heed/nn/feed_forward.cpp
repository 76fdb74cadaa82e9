#include "heed/nn/feed_forward.h"

#include "heed/ops/elementwise.h"

namespace heed::nn {

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::relu:
      return ops::relu(x);
    case Activation::gelu:
      return ops::gelu(x);
    case Activation::gelu_tanh:
      return ops::gelu(x, ops::GeluForm::tanh);
    case Activation::quick_gelu:
      return ops::quick_gelu(x);
    case Activation::silu:
    case Activation::swiglu:
      return ops::silu(x);
  }
  return x;  // not reached: the enum has no other value
}

FeedForward::FeedForward(const FeedForwardOptions& options, const Initializer& initializer)
    : options_(options) {
  options_.has_gate = options.has_gate || options.activation == Activation::swiglu;
  const Index dim = options_.model_dim, hidden_dim = options_.hidden_dim;
  const LinearOptions bias{.has_bias = options_.has_bias};
  hidden_ = Linear(dim, hidden_dim, initializer, bias);
  if (options_.has_gate) gate_ = Linear(dim, hidden_dim, initializer, bias);
  output_ = Linear(hidden_dim, dim, initializer, bias);
}

Tensor FeedForward::hidden(const Tensor& x) const {
  const Tensor h = hidden_.forward(x);  // [N, F]
  if (!options_.has_gate) return activate(options_.activation, h);
  return ops::multiply(activate(options_.activation, gate_.forward(x)), h);
}

Tensor FeedForward::forward(const Tensor& x, ForwardContext& context) const {
  return output_.forward(ops::dropout(hidden(x), context.dropout(options_.dropout)));
}

void FeedForward::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("hidden", hidden_);
  if (options_.has_gate) visitor.child("gate", gate_);
  visitor.child("output", output_);
}

}  // namespace heed::nn
