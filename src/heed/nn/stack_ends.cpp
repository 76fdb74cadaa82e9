#include "heed/nn/stack_ends.h"

#include "heed/base/random.h"

namespace heed::nn {

StackEnds::StackEnds(const std::string& name, const BlockOptions& options, Rng& rng)
    : name_(name),
      dropout_(options.dropout),
      norm_place_(options.norm_place),
      positions_(options.positions, options.model_dim, options.max_positions, rng) {
  if (norm_place_ == NormPlace::before) norm_ = Norm(options.norm_kind, options.model_dim);
}

Tensor StackEnds::embedded(const Packed& x, ForwardContext& context,
                           std::span<const Index> past) const {
  const Tensor words = context.words(name_, x.values);
  context.see(name_, "words", words);
  const Tensor y =
      ops::dropout(positions_.forward({words, x.spans}, past), context.dropout(dropout_));
  context.see(name_, "embedded", y);
  return y;
}

Tensor StackEnds::finished(const Tensor& x, ForwardContext& context) const {
  const Tensor y = norm_place_ == NormPlace::before ? norm_.forward(x) : x;
  context.see(name_, "final", y);
  return y;
}

void StackEnds::visit_first(ParameterVisitor& visitor) { visitor.child("positions", positions_); }

void StackEnds::visit_last(ParameterVisitor& visitor) {
  if (norm_place_ == NormPlace::before) visitor.child("norm", norm_);
}

}  // namespace heed::nn
