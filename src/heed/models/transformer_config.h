// The shape of a Transformer: everything that config.json says about the network itself.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/index.h"
#include "heed/ops/similarity.h"

namespace heed::models {

enum class NormPlace { before, after };       // of the sub-layer
enum class NormKind { layer, rms };
enum class Positions { sinusoidal, learned, rotary, alibi, none };
enum class Activation { relu, gelu, swiglu };
// Which embeddings are one table: none, target input and output, or source too.
enum class Tying { none, target, all };

struct TransformerConfig {
  Index vocabulary = 0;  // source and target share one tokenizer
  Index encoder_layers = 4;
  Index decoder_layers = 4;
  Index model_dim = 128;
  Index feed_forward_dim = 256;
  Index num_heads = 4;
  Index num_key_value_heads = 0;  // 0: as num_heads
  Index max_positions = 1024;     // for learned positions: the longest sequence
  float dropout = 0.3f;            // on embeddings and on each sub-layer's output
  float attention_dropout = 0;     // on attention weights
  float activation_dropout = 0;    // inside the feed-forward
  float label_smoothing = 0.1f;
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  NormPlace norm_place = NormPlace::after;
  NormKind norm_kind = NormKind::layer;
  Positions positions = Positions::sinusoidal;
  Activation activation = Activation::relu;
  Tying tying = Tying::all;
};

// Refuses what cannot be built: heads that do not divide the width, sizes below 1, rates outside [0, 1).
void validate(const TransformerConfig& config);

// tiny, small, base, demo. Refuses other names and lists these.
TransformerConfig transformer_preset(std::string_view name);

// As config.json holds it, and back. Reading checks every field.
std::string to_json(const TransformerConfig& config);
TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace heed::models
