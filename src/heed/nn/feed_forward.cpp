#include "heed/nn/feed_forward.h"

#include "heed/ops/elementwise.h"

namespace heed::nn {

FeedForward::FeedForward(const FeedForwardOptions& options, const Initializer& initializer)
    : options_(options) {
  const Index dim = options_.model_dim, hidden_dim = options_.hidden_dim;
  const LinearOptions bias{.has_bias = options_.has_bias};
  hidden_ = Linear(dim, hidden_dim, initializer, bias);
  if (options_.activation == Activation::swiglu) gate_ = Linear(dim, hidden_dim, initializer, bias);
  output_ = Linear(hidden_dim, dim, initializer, bias);
}

Tensor FeedForward::hidden(const Tensor& x) const {
  const Tensor h = hidden_.forward(x);  // [N, F]
  switch (options_.activation) {
    case Activation::relu:
      return ops::relu(h);
    case Activation::gelu:
      return ops::gelu(h);
    case Activation::swiglu:
      return ops::swiglu(gate_.forward(x), h);
  }
  return h;  // not reached: the enum has no other value
}

Tensor FeedForward::forward(const Tensor& x, ForwardContext& context) const {
  return output_.forward(ops::dropout(hidden(x), context.dropout(options_.dropout)));
}

void FeedForward::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("hidden", hidden_);
  if (options_.activation == Activation::swiglu) visitor.child("gate", gate_);
  visitor.child("output", output_);
}

}  // namespace heed::nn
