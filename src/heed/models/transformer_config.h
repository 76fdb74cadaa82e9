// The shape of a Transformer: everything that config.json says about the network itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/models/choices.h"
#include "heed/nn/block_options.h"
#include "heed/ops/quantized_matrix.h"
#include "heed/ops/similarity.h"

namespace heed::models {

using nn::Activation;
using nn::NormKind;
using nn::NormPlace;
using nn::Positions;
using ops::WeightFormat;
// Which embeddings are one table: none, target input and output, or source too.
enum class Tying { none, target, all };
// What a model is for: an encoder and a decoder that reads it translate, text to text; a decoder
// alone is a language model, which tells the next token; an encoder alone tells a line's class, the
// tokens that were masked in it, or an image's class. The name is model_type in config.json.
enum class ModelKind { translation, language, classifier, masked, image_classifier };
// How a classifier makes one vector of a line: that of a token put first, the mean of all, or a
// mean weighted by a learned query.
enum class Pooling { first, mean, attention };

struct TransformerConfig {
  ModelKind kind = ModelKind::translation;
  Index vocabulary = 0;      // source and target share one tokenizer; images have none
  Index encoder_layers = 4;  // 0 for a language model
  Index decoder_layers = 4;  // 0 for an encoder alone
  Index model_dim = 128;
  Index feed_forward_dim = 256;
  Index num_heads = 4;
  Index num_key_value_heads = 0;  // 0: as num_heads
  Index max_positions = 1024;     // for learned positions: the longest sequence
  float dropout = 0.3f;           // on embeddings and on each sub-layer's output
  float attention_dropout = 0;    // on attention weights
  float activation_dropout = 0;   // inside the feed-forward
  float label_smoothing = 0.1f;
  // Weight of the loss that leads one head to the words that belong together; 0: no head is led.
  float guided_alignment = 0;
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  NormPlace norm_place = NormPlace::after;
  NormKind norm_kind = NormKind::layer;
  Positions positions = Positions::sinusoidal;
  Activation activation = Activation::relu;
  Tying tying = Tying::all;
  Pooling pooling = Pooling::mean;  // of a classifier
  std::vector<std::string> labels;  // the names of its classes
  Index image_height = 28;          // what an image classifier looks at, in pixels
  Index image_width = 28;
  Index image_channels = 1;                  // 1: grey, 3: colour
  Index patch_side = 4;                      // a token is a square of so many pixels a side
  WeightFormat weights = WeightFormat::f32;  // others can be run, not trained

  friend bool operator==(const TransformerConfig&, const TransformerConfig&) = default;
};

template <>
std::span<const Choice<ModelKind>> choices();  // heed-translation, heed-language, ...
template <>
std::span<const Choice<NormPlace>> choices();  // before, after
template <>
std::span<const Choice<NormKind>> choices();  // layer, rms
template <>
std::span<const Choice<Positions>> choices();  // sinusoidal, learned, rotary, alibi, none
template <>
std::span<const Choice<Activation>> choices();  // relu, gelu, swiglu
template <>
std::span<const Choice<Tying>> choices();  // none, target, all
template <>
std::span<const Choice<Pooling>> choices();  // first, mean, attention
template <>
std::span<const Choice<ops::Similarity>> choices();  // dot, cosine, scaled-dot
template <>
std::span<const Choice<WeightFormat>> choices();  // f32, f16, bf16, int8, int4

// Refuses what cannot be built: heads that do not divide the width, sizes below 1 or beyond reason,
// rates outside [0, 1), layers that the kind of model does not have. `what` begins the message,
// `kind` says whose mistake it is.
void validate(const TransformerConfig& config, std::string_view what = "model",
              ErrorKind kind = ErrorKind::usage);

// tiny, small, base, demo for text to text; char, gpt-mini, gpt2 for the next token; classes for
// classes, masked for masked tokens, images for classes of images. Refuses other names and lists
// these.
TransformerConfig transformer_preset(std::string_view name);
std::string preset_names();  // "tiny, small, ..."

// Does the model put the begin token before every text by itself? A classifier that tells the class
// from its first token does.
bool puts_begin_first(const TransformerConfig& config);

// The tokens of an image, and the numbers that each is made of.
Index num_patches(const TransformerConfig& config);
Index patch_dim(const TransformerConfig& config);

// How many numbers a model of this shape learns.
Index num_parameters(const TransformerConfig& config);

// The head that guided alignment leads: the first of the last cross-attention but one (Garg and
// others 2019).
std::string alignment_layer(const TransformerConfig& config);  // "decoder.2.cross_attention"
inline constexpr Index alignment_head = 0;

// The sizes and choices of the encoder's and of the decoder's blocks.
nn::BlockOptions encoder_options(const TransformerConfig& config);
nn::BlockOptions decoder_options(const TransformerConfig& config);

// As config.json holds it, and back. Reading checks every field (ErrorKind::model).
std::string to_json(const TransformerConfig& config);
TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace heed::models
