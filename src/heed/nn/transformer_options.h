// The sizes and choices of a stack of Transformer blocks.
#pragma once

#include "heed/nn/attention.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/nn/residual.h"

namespace heed::nn {

struct TransformerOptions {
  Index num_layers = 1;
  Index model_dim = 0;
  Index feed_forward_dim = 0;
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as num_heads
  Index max_positions = 1024;     // for learned positions
  float dropout = 0;              // on embeddings and on each sub-layer's output
  float attention_dropout = 0;    // on attention weights
  float activation_dropout = 0;   // inside the feed-forward
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  NormPlace norm_place = NormPlace::after;
  NormKind norm_kind = NormKind::layer;
  Positions positions = Positions::sinusoidal;
  Activation activation = Activation::relu;
  bool is_causal = false;            // a token sees those before it only: decoders
  bool has_cross_attention = false;  // to a memory: the decoder of an encoder-decoder

  MultiHeadAttentionOptions self_attention() const {
    return {.model_dim = model_dim,
            .num_heads = num_heads,
            .num_key_value_heads = num_key_value_heads,
            .similarity = similarity,
            .scale = std::nullopt,
            .softcap = 0,
            .positions = positions,
            .dropout = attention_dropout};
  }
  // Positions of two different sequences have no distance, so only self-attention uses them.
  MultiHeadAttentionOptions cross_attention() const {
    MultiHeadAttentionOptions options = self_attention();
    options.positions = Positions::none;
    return options;
  }
  FeedForwardOptions feed_forward() const {
    return {.model_dim = model_dim,
            .hidden_dim = feed_forward_dim,
            .activation = activation,
            .dropout = activation_dropout};
  }
  ResidualOptions residual() const { return {.norm_place = norm_place, .dropout = dropout}; }
};

}  // namespace heed::nn
