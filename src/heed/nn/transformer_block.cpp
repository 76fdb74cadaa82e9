#include "heed/nn/transformer_block.h"

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/residual.h"
#include "heed/nn/similarity_scale.h"
#include "heed/ops/positions.h"

namespace heed::nn {

// That of the similarity is not given unless it is divided.
std::optional<float> TransformerOptions::self_attention_scale(Index layer) const {
  if (!has_layer_scale) return attention_scale;
  const Index width = head_dim > 0 ? head_dim : model_dim / num_heads;
  const float whole =
      similarity_scale({.similarity = similarity, .scale = attention_scale}, similarity)
          .value_or(ops::default_scale(similarity, width));
  return whole / static_cast<float>(layer + 1);
}

TransformerBlock::TransformerBlock(const std::string& stack, Index layer,
                                   const TransformerOptions& options,
                                   const Initializer& initializer)
    : form_(options.block_form),
      norm_place_(options.norm_place),
      dropout_(options.dropout),
      has_cross_attention_(options.has_cross_attention) {
  set_layer(stack, layer, options);
  check(
      form_ == BlockForm::sequential || (norm_place_ == NormPlace::before && !has_cross_attention_),
      name_, ": parallel sub-layers have norms before them, and no cross-attention");
  const auto norm = [&] { return Norm(options.norm(), options.model_dim, initializer); };
  self_attention_ =
      MultiHeadAttention(name_ + ".self_attention", options.self_attention(layer), initializer);
  self_attention_norm_ = norm();
  if (has_cross_attention_) {
    cross_attention_ =
        MultiHeadAttention(name_ + ".cross_attention", options.cross_attention(), initializer);
    cross_attention_norm_ = norm();
  }
  feed_forward_ = FeedForward(options.feed_forward(), initializer);
  if (form_ != BlockForm::parallel_one_norm) feed_forward_norm_ = norm();
  if (norm_place_ != NormPlace::around) return;
  self_attention_output_norm_ = norm();
  if (has_cross_attention_) cross_attention_output_norm_ = norm();
  feed_forward_output_norm_ = norm();
}

// What a layer has besides its weights.
void TransformerBlock::set_layer(const std::string& stack, Index layer,
                                 const TransformerOptions& options) {
  name_ = stack + '.' + std::to_string(layer);
  mask_ = options.self_attention_mask(layer);
}

TransformerBlock TransformerBlock::as_layer(const std::string& stack, Index layer,
                                            const TransformerOptions& options) const {
  TransformerBlock copy = *this;
  copy.set_layer(stack, layer, options);
  copy.self_attention_.set_layer(copy.name_ + ".self_attention",
                                 options.self_attention_scale(layer));
  if (has_cross_attention_) {
    copy.cross_attention_.set_layer(copy.name_ + ".cross_attention", options.attention_scale);
  }
  return copy;
}

Tensor TransformerBlock::forward(const Packed& x, const BlockInputs& inputs,
                                 ForwardContext& context) const {
  check_cancelled();
  if (form_ != BlockForm::sequential) return parallel_forward(x, inputs, context);
  const ResidualOptions options{.norm_place = norm_place_, .dropout = dropout_};
  Tensor y = residual(x.values, self_attention_norm_, options, context, [&](const Tensor& h) {
    return self_attend({h, x.spans}, inputs, context);
  });
  context.see(name_, "after_self_attention", y);
  if (has_cross_attention_) {
    y = residual(y, cross_attention_norm_, options, context, [&](const Tensor& h) {
      return cross_attend({h, x.spans}, inputs, context);
    });
    context.see(name_, "after_cross_attention", y);
  }
  y = residual(y, feed_forward_norm_, options, context,
               [&](const Tensor& h) { return feed_forward(h, context); });
  context.see(name_, "after_feed_forward", y);
  return y;
}

// x + self_attention(norm(x)) + feed_forward(norm(x)).
Tensor TransformerBlock::parallel_forward(const Packed& x, const BlockInputs& inputs,
                                          ForwardContext& context) const {
  const bool has_one_norm = form_ == BlockForm::parallel_one_norm;
  const Tensor h = self_attention_norm_.forward(x.values);
  const Tensor attended = self_attend({h, x.spans}, inputs, context);
  Tensor y = ops::add_dropout(x.values, attended, context.dropout(dropout_));
  context.see(name_, "after_self_attention", y);
  const Tensor fed = feed_forward(has_one_norm ? h : feed_forward_norm_.forward(x.values), context);
  y = ops::add_dropout(y, fed, context.dropout(dropout_));
  context.see(name_, "after_feed_forward", y);
  return y;
}

Tensor TransformerBlock::self_attend(const Packed& x, const BlockInputs& inputs,
                                     ForwardContext& context) const {
  ops::AttentionMask mask = mask_;
  mask.distance_bias = inputs.distance_bias;
  const Tensor y = self_attention_.self_attend(x, mask, context, inputs.past, inputs.cache);
  return norm_place_ == NormPlace::around ? self_attention_output_norm_.forward(y) : y;
}

Tensor TransformerBlock::cross_attend(const Packed& x, const BlockInputs& inputs,
                                      ForwardContext& context) const {
  const CrossAttentionMemory& memory = *inputs.memory;
  // Rows that share a memory sequence may be hypotheses, each with its own position.
  std::vector<Index> positions;
  if (context.has_hook()) positions = ops::token_positions(x.spans, inputs.past);
  const Tensor y = cross_attention_.attend({x.values, memory.queries}, memory.keys_and_values,
                                           ops::AttentionMask::none(), context, {}, positions);
  return norm_place_ == NormPlace::around ? cross_attention_output_norm_.forward(y) : y;
}

Tensor TransformerBlock::feed_forward(const Tensor& x, ForwardContext& context) const {
  const Tensor y = feed_forward_.forward(x, context);
  return norm_place_ == NormPlace::around ? feed_forward_output_norm_.forward(y) : y;
}

KeysAndValues TransformerBlock::memory_keys_and_values(const Packed& memory) const {
  return cross_attention_.keys_and_values(memory);
}

void TransformerBlock::visit_parameters(ParameterVisitor& visitor) {
  const auto visit_output_norm = [&](const char* name, Norm& norm) {
    if (norm_place_ == NormPlace::around) visitor.child(name, norm);
  };
  visitor.child("self_attention", self_attention_);
  visitor.child("self_attention_norm", self_attention_norm_);
  visit_output_norm("self_attention_output_norm", self_attention_output_norm_);
  if (has_cross_attention_) {
    visitor.child("cross_attention", cross_attention_);
    visitor.child("cross_attention_norm", cross_attention_norm_);
    visit_output_norm("cross_attention_output_norm", cross_attention_output_norm_);
  }
  visitor.child("feed_forward", feed_forward_);
  if (form_ != BlockForm::parallel_one_norm) {
    visitor.child("feed_forward_norm", feed_forward_norm_);
  }
  visit_output_norm("feed_forward_output_norm", feed_forward_output_norm_);
}

}  // namespace heed::nn
