// One Transformer block: self-attention, optional cross-attention and feed-forward, each with add &
// norm.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/nn/attention.h"
#include "heed/nn/block_form.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"

namespace heed::nn {

struct CrossAttentionMemory;

// The sizes and choices of a block, and of a stack of blocks.
struct TransformerOptions {
  Index num_layers = 1;
  Index model_dim = 0;
  Index feed_forward_dim = 0;
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as num_heads
  Index head_dim = 0;             // 0: model_dim / num_heads
  Index embedding_dim = 0;        // of an input that is projected to model_dim; 0: model_dim
  AttentionBias attention_bias = AttentionBias::all;
  bool has_feed_forward_bias = true;
  bool has_feed_forward_gate = false;
  Index max_positions = 1024;    // for learned positions
  float dropout = 0;             // on embeddings and on each sub-layer's output
  float attention_dropout = 0;   // on attention weights
  float activation_dropout = 0;  // inside the feed-forward
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  std::optional<float> attention_scale = std::nullopt;  // in place of the similarity's own
  bool has_layer_scale =
      false;  // the scale of layer l of self-attention, from 0, is divided by l + 1
  float attention_softcap = 0;  // c > 0: scores become c * tanh(score / c), before the mask
  // One for each layer, and again from the first: {4096, 0} is every other layer of Gemma 2. w > 0:
  // self-attention sees only keys less than w places away, a causal one w keys with the token's
  // own.
  std::vector<Index> windows = {};
  BlockForm block_form = BlockForm::sequential;
  NormPlace norm_place = NormPlace::after;
  NormKind norm_kind = NormKind::layer;
  float norm_epsilon = 1e-5f;
  bool has_norm_bias = true;          // of layer norm
  bool has_norm_unit_offset = false;  // gains are 1 + the parameter (Gemma)
  bool has_embedding_norm = false;    // of the embeddings with positions, before the first block
  std::optional<bool> has_final_norm = std::nullopt;  // not given: unless norms are after
  Positions positions = Positions::sinusoidal;
  Index position_offset = 0;  // of sinusoidal and learned ones: the table's row of position 0
  ops::SinusoidOrder sinusoid_order = ops::SinusoidOrder::interleaved;
  ops::RotaryFrequencies rotary = {};  // dim 0: that of a head
  // Buckets of distances whose bias of the scores is learned, one table for all layers (T5, MPNet).
  std::optional<ops::RelativeBuckets> relative_positions = std::nullopt;
  bool has_query_key_norm = false;  // of every head's queries and keys, before RoPE
  Activation activation = Activation::relu;
  bool is_causal = false;            // a token sees those before it only: decoders
  bool has_cross_attention = false;  // to a memory: the decoder of an encoder-decoder
  bool has_shared_layers = false;    // all layers have the weights of the first (ALBERT)

  Index embedding_width() const { return embedding_dim > 0 ? embedding_dim : model_dim; }
  PositionEmbeddingOptions position_embedding() const {
    return {.positions = positions,
            .dim = embedding_width(),
            .max_positions = max_positions,
            .offset = position_offset,
            .sinusoid_order = sinusoid_order};
  }
  NormOptions norm() const {
    return {.kind = norm_kind,
            .epsilon = norm_epsilon,
            .has_bias = has_norm_bias,
            .has_unit_offset = has_norm_unit_offset};
  }
  bool ends_with_norm() const { return has_final_norm.value_or(norm_place != NormPlace::after); }
  std::optional<float> self_attention_scale(Index layer) const;
  MultiHeadAttentionOptions self_attention(Index layer) const {
    return {.model_dim = model_dim,
            .num_heads = num_heads,
            .num_key_value_heads = num_key_value_heads,
            .head_dim = head_dim,
            .bias = attention_bias,
            .similarity = similarity,
            .scale = self_attention_scale(layer),
            .softcap = attention_softcap,
            .positions = positions,
            .rotary = rotary,
            .query_key_norm = has_query_key_norm ? std::optional(norm()) : std::nullopt,
            .dropout = attention_dropout};
  }
  // Positions of two different sequences have no distance, so only self-attention uses them.
  MultiHeadAttentionOptions cross_attention() const {
    MultiHeadAttentionOptions options = self_attention(/*layer=*/0);
    options.positions = Positions::none;
    options.scale = attention_scale;
    return options;
  }
  ops::AttentionMask self_attention_mask(Index layer) const {
    const auto period = static_cast<Index>(windows.size());
    ops::AttentionMask mask;
    mask.causal = is_causal;
    if (period > 0) mask.window = windows[layer % period];
    return mask;
  }
  FeedForwardOptions feed_forward() const {
    return {.model_dim = model_dim,
            .hidden_dim = feed_forward_dim,
            .activation = activation,
            .dropout = activation_dropout,
            .has_bias = has_feed_forward_bias,
            .has_gate = has_feed_forward_gate};
  }
};

// The inputs of a block's attention besides x.
struct BlockInputs {
  const CrossAttentionMemory* memory = nullptr;  // null without cross-attention
  std::span<const Index> past = {};  // tokens of each sequence before x; none when empty
  KeyValueCache* cache = nullptr;    // which x continues, and is appended to
  Tensor distance_bias = {};         // of self-attention, for ops::AttentionMask; or undefined
};

class TransformerBlock {
 public:
  // Block `layer` of a stack: 2 of decoder is called decoder.2.
  TransformerBlock(const std::string& stack, Index layer, const TransformerOptions& options,
                   const Initializer& initializer);

  // Another layer of the stack with the same weights.
  TransformerBlock as_layer(const std::string& stack, Index layer,
                            const TransformerOptions& options) const;

  Tensor forward(const Packed& x, const BlockInputs& inputs, ForwardContext& context) const;
  // What cross-attention attends to, of a memory [M, D].
  KeysAndValues memory_keys_and_values(const Packed& memory) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  Tensor self_attend(const Packed& x, const BlockInputs& inputs, ForwardContext& context) const;
  Tensor cross_attend(const Packed& x, const BlockInputs& inputs, ForwardContext& context) const;
  Tensor feed_forward(const Tensor& x, ForwardContext& context) const;
  Tensor parallel_forward(const Packed& x, const BlockInputs& inputs,
                          ForwardContext& context) const;
  void set_layer(const std::string& stack, Index layer, const TransformerOptions& options);

  std::string name_;
  BlockForm form_;
  NormPlace norm_place_;
  float dropout_;  // on the output of a sub-layer
  ops::AttentionMask mask_;
  bool has_cross_attention_;
  MultiHeadAttention self_attention_;
  Norm self_attention_norm_;
  MultiHeadAttention cross_attention_;
  Norm cross_attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;  // unless the form has one norm
  // Of the sub-layers' outputs, with norms around them.
  Norm self_attention_output_norm_, cross_attention_output_norm_, feed_forward_output_norm_;
};

}  // namespace heed::nn
