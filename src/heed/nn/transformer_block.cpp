#include "heed/nn/transformer_block.h"

#include "heed/base/cancellation.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/residual.h"
#include "heed/ops/positions.h"

namespace heed::nn {

TransformerBlock::TransformerBlock(const std::string& stack, Index layer,
                                   const TransformerOptions& options,
                                   const Initializer& initializer)
    : name_(stack + '.' + std::to_string(layer)),
      norm_place_(options.norm_place),
      dropout_(options.dropout),
      mask_(options.self_attention_mask(layer)),
      has_cross_attention_(options.has_cross_attention) {
  const auto norm = [&] { return Norm(options.norm(), options.model_dim, initializer); };
  self_attention_ =
      MultiHeadAttention(name_ + ".self_attention", options.self_attention(), initializer);
  self_attention_norm_ = norm();
  if (has_cross_attention_) {
    cross_attention_ =
        MultiHeadAttention(name_ + ".cross_attention", options.cross_attention(), initializer);
    cross_attention_norm_ = norm();
  }
  feed_forward_ = FeedForward(options.feed_forward(), initializer);
  feed_forward_norm_ = norm();
}

Tensor TransformerBlock::forward(const Packed& x, const BlockInputs& inputs,
                                 ForwardContext& context) const {
  check_cancelled();
  const ResidualOptions options{.norm_place = norm_place_, .dropout = dropout_};
  Tensor y = residual(x.values, self_attention_norm_, options, context, [&](const Tensor& h) {
    return self_attention_.self_attend({h, x.spans}, mask_, context, inputs.past, inputs.cache);
  });
  context.see(name_, "after_self_attention", y);

  if (has_cross_attention_) {
    const CrossAttentionMemory& memory = *inputs.memory;
    // Rows that share a memory sequence may be hypotheses, each with its own position.
    std::vector<Index> positions;
    if (context.has_hook()) positions = ops::token_positions(x.spans, inputs.past);
    y = residual(y, cross_attention_norm_, options, context, [&](const Tensor& h) {
      return cross_attention_.attend({h, memory.queries}, memory.keys_and_values,
                                     ops::AttentionMask::none(), context, {}, positions);
    });
    context.see(name_, "after_cross_attention", y);
  }

  y = residual(y, feed_forward_norm_, options, context,
               [&](const Tensor& h) { return feed_forward_.forward(h, context); });
  context.see(name_, "after_feed_forward", y);
  return y;
}

KeysAndValues TransformerBlock::memory_keys_and_values(const Packed& memory) const {
  return cross_attention_.keys_and_values(memory);
}

void TransformerBlock::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("self_attention", self_attention_);
  visitor.child("self_attention_norm", self_attention_norm_);
  if (has_cross_attention_) {
    visitor.child("cross_attention", cross_attention_);
    visitor.child("cross_attention_norm", cross_attention_norm_);
  }
  visitor.child("feed_forward", feed_forward_);
  visitor.child("feed_forward_norm", feed_forward_norm_);
}

}  // namespace heed::nn
