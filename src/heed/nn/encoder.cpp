#include "heed/nn/encoder.h"

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::nn {

EncoderBlock::EncoderBlock(const std::string& name, const BlockOptions& options, Rng& rng)
    : name_(name),
      residual_(options.residual()),
      self_attention_(name + ".self_attention", options.self_attention(), rng),
      self_attention_norm_(options.norm_kind, options.model_dim),
      feed_forward_(options.feed_forward(), rng),
      feed_forward_norm_(options.norm_kind, options.model_dim) {}

Tensor EncoderBlock::forward(const Packed& x, const ops::AttentionMask& mask,
                             ForwardContext& context, std::span<const Index> past,
                             KeyValueCache* cache) const {
  const Tensor attended =
      residual(x.values, self_attention_norm_, residual_, context, [&](const Tensor& values) {
        return attend_to_itself(self_attention_, {values, x.spans}, mask, context, past, cache);
      });
  context.see(name_, "after_self_attention", attended);
  const Tensor fed =
      residual(attended, feed_forward_norm_, residual_, context,
               [&](const Tensor& values) { return feed_forward_.forward(values, context); });
  context.see(name_, "after_feed_forward", fed);
  return fed;
}

void EncoderBlock::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("self_attention", self_attention_);
  visitor.child("self_attention_norm", self_attention_norm_);
  visitor.child("feed_forward", feed_forward_);
  visitor.child("feed_forward_norm", feed_forward_norm_);
}

Encoder::Encoder(const std::string& name, const BlockOptions& options, Rng& rng)
    : ends_(name, options, rng) {
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    blocks_.emplace_back(name + '.' + std::to_string(layer), options, rng);
  }
}

Tensor Encoder::forward(const Packed& x, ForwardContext& context,
                        const ops::AttentionMask& mask) const {
  Tensor y = ends_.embedded(x, context);
  for (const EncoderBlock& block : blocks_) y = block.forward({y, x.spans}, mask, context);
  return ends_.finished(y, context);
}

StackCache Encoder::start(Index num_rows) const { return {std::ssize(blocks_), num_rows}; }

Tensor Encoder::advance(const Packed& x, StackCache& cache, ForwardContext& context) const {
  const NoGrad no_grad;
  check(x.spans.count() == cache.num_rows(), "encoder: expected tokens for each of ",
        cache.num_rows(), " rows, got ", x.spans.count(), " sequences");
  Tensor y = ends_.embedded(x, context, cache.lengths());
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    y = blocks_[layer].forward({y, x.spans}, ops::AttentionMask::causal_mask(), context,
                               cache.lengths(), &cache.layer(layer));
  }
  cache.advance(x.spans);
  return ends_.finished(y, context);
}

void Encoder::visit_parameters(ParameterVisitor& visitor) {
  ends_.visit_first(visitor);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    visitor.child(std::to_string(layer), blocks_[layer]);
  }
  ends_.visit_last(visitor);
}

}  // namespace heed::nn
