// The configuration of a Transformer: everything that config.json says about the network. The rows
// of its settings are in config_fields.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choices.h"
#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/base/problem_type.h"
#include "heed/base/weight_format.h"
#include "heed/nn/block_form.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/ops/similarity.h"
#include "heed/text/special_tokens.h"

namespace heed::nn {
struct OutputProjectionOptions;
struct TransformerOptions;
}  // namespace heed::nn

namespace heed::models {

using heed::ProblemType;
using heed::WeightFormat;
using nn::Activation;
using nn::AttentionBias;
using nn::BlockForm;
using nn::NormKind;
using nn::NormPlace;
using nn::Positions;
// Which embeddings are one table: none, target input and output, source too, or source and target
// input, with an output of its own (T5 1.1).
enum class Tying { none, target, all, inputs };
// An encoder-decoder for translation, text to text; a decoder-only language model, which predicts
// the next token; or an encoder that predicts a line's class, masked tokens, an image's class, a
// tag for each word, or nothing: it makes vectors of sentences. The name is model_type in
// config.json.
enum class ModelKind {
  translation,
  language,
  classifier,
  masked,
  image_classifier,
  tagger,
  encoder
};
// How the vectors of a line become one: that of a begin token, the mean of all, attention with a
// learned query, the last of them, or the largest number of each column.
enum class Pooling { first, mean, attention, last, max };
// A linear layer with this activation between the pooled vector and the classes, or none. BERT's
// pooler has tanh.
enum class HeadLayer { none, tanh, relu, gelu };
// Where embeddings of another width become as wide as the model: after positions, token types and
// norm were added in their width, by a layer with a bias (ALBERT, ELECTRA); or right away, by a
// matrix, and a second one turns what the output projection gets to their width (OPT).
enum class EmbeddingProjection { sum, words };

struct TransformerConfig {
  ModelKind kind = ModelKind::translation;
  // The model_type of another program's folder, in whose layout the model is written back: "llama".
  // Empty: Heed's own.
  std::string family = {};
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
  // The model has seen sources (a classifier: lines) of at most so many tokens, the end token
  // included, and reads no more of any; 0: whole ones.
  Index truncate_source = 0;
  // Weight of the guided alignment loss; 0: none.
  float guided_alignment = 0;
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  NormPlace norm_place = NormPlace::after;
  NormKind norm_kind = NormKind::layer;
  Positions positions = Positions::sinusoidal;
  Activation activation = Activation::relu;
  Tying tying = Tying::all;
  Pooling pooling = Pooling::mean;                       // of a classifier or an encoder
  bool normalizes = false;                               // an encoder's vectors have length 1
  std::vector<std::string> labels;                       // the names of its classes, or of tags
  ProblemType problem_type = ProblemType::single_label;  // of a classifier of text
  bool text_pairs = false;  // a classifier of text reads two texts at a time
  // Regression: the head predicts (number - mean) / scale.
  float score_mean = 0;
  float score_scale = 1;
  Index image_height = 28;  // what an image classifier looks at, in pixels
  Index image_width = 28;
  Index image_channels = 1;                  // 1: grey, 3: colour
  Index patch_side = 4;                      // side of a patch, which is one token, in pixels
  WeightFormat weights = WeightFormat::f32;  // others are for inference only

  // What models of other families have, and what training starts no model with. See
  // nn::TransformerOptions for those of the blocks.
  text::SpecialTokens tokens = {};
  Index source_vocabulary = 0;  // with a tokenizer of the source's own; 0: one for both
  Index embedding_dim = 0;  // of embeddings that are projected to the width; 0: the width itself
  EmbeddingProjection embedding_projection = EmbeddingProjection::sum;
  std::optional<float> embedding_scale = std::nullopt;  // not given: the square root of the width
  bool freezes_padding = false;                         // looking up the padding leaves no gradient
  Index token_types = 0;               // learned vectors for the parts of a pair, added to tokens
  Index head_dim = 0;                  // 0: model_dim / num_heads
  Index decoder_heads = 0;             // 0: as the encoder
  Index decoder_feed_forward_dim = 0;  // likewise
  AttentionBias attention_bias = AttentionBias::all;
  bool has_feed_forward_bias = true;
  bool has_feed_forward_gate = false;
  std::optional<float> attention_scale = std::nullopt;  // not given: the similarity's own
  bool has_layer_scale = false;  // scores of layer l, from 0, are divided by l + 1
  float attention_softcap = 0;
  std::vector<Index> windows = {};
  BlockForm block_form = BlockForm::sequential;
  float norm_epsilon = 1e-5f;
  bool has_norm_bias = true;
  bool has_norm_unit_offset = false;
  bool has_query_key_norm = false;
  bool has_embedding_norm = false;
  std::optional<bool> has_final_norm = std::nullopt;  // not given: unless norms are after
  bool has_shared_layers = false;                     // all layers have the same weights (ALBERT)
  Index position_offset = 0;
  ops::SinusoidOrder sinusoid_order = ops::SinusoidOrder::interleaved;
  ops::RotaryFrequencies rotary = {};
  Index relative_buckets = 0;  // 0: no bias by distance
  Index relative_max_distance = 128;
  bool has_class_token = false;       // images: a learned token before the patches
  bool has_output_transform = false;  // masked: linear, activation, norm before the projection
  std::optional<Activation> output_activation = std::nullopt;  // not given: the feed-forward's
  bool has_output_bias = false;            // of the projection to the vocabulary
  float output_scale = 1;                  // of the vectors before it
  float logit_softcap = 0;                 // c > 0: logits become c * tanh(logit / c)
  HeadLayer head_layer = HeadLayer::none;  // of a classifier or a tagger
  // Classifiers with pooling of the first token prepend the begin token to every line themselves.
  // Tokenizers of other families have done so.
  bool prepends_begin = true;

  friend bool operator==(const TransformerConfig&, const TransformerConfig&) = default;
};

}  // namespace heed::models

namespace heed {

template <>
std::span<const Choice<models::ModelKind>> choices();  // heed-translation, heed-language, ...
template <>
std::span<const Choice<models::NormPlace>> choices();  // before, after, around
template <>
std::span<const Choice<models::NormKind>> choices();  // layer, rms
template <>
std::span<const Choice<models::Positions>> choices();  // sinusoidal, learned, rotary, alibi, none
template <>
std::span<const Choice<models::Activation>> choices();  // relu, gelu, swiglu, ...
template <>
std::span<const Choice<models::Tying>> choices();  // none, target, all, inputs
template <>
std::span<const Choice<models::Pooling>> choices();  // first, mean, attention, last, max
template <>
std::span<const Choice<models::HeadLayer>> choices();  // none, tanh, relu, gelu
template <>
std::span<const Choice<models::EmbeddingProjection>> choices();  // sum, words
template <>
std::span<const Choice<models::AttentionBias>> choices();  // none, query_key_value, output, all
template <>
std::span<const Choice<models::BlockForm>> choices();  // sequential, parallel, parallel_one_norm
template <>
std::span<const Choice<ops::SinusoidOrder>> choices();  // interleaved, halves, ...
template <>
std::span<const Choice<ops::RotaryScaling>> choices();  // none, linear, llama3, yarn, longrope
template <>
std::span<const Choice<ProblemType>> choices();  // single_label_classification, ...
template <>
std::span<const Choice<models::WeightFormat>> choices();  // f32, f16, bf16, int8, int4

}  // namespace heed

namespace heed::models {

// Refuses what cannot be built: heads that do not divide the width, sizes below 1 or beyond reason,
// rates outside [0, 1), layers that the kind of model does not have. `what` begins the message,
// `kind` says whose mistake it is.
void validate(const TransformerConfig& config, std::string_view what = "model",
              ErrorKind kind = ErrorKind::usage);

// Which kinds have token sequences, classes, one vector for a sequence, an encoder, a decoder.
bool has_text(ModelKind kind);
bool has_classes(ModelKind kind);
bool has_pooling(ModelKind kind);
bool has_encoder(ModelKind kind);
bool has_decoder(ModelKind kind);
bool is_text_classifier(ModelKind kind);
bool is_sentence_encoder(ModelKind kind);
bool has_output_projection(ModelKind kind);  // to logits of the vocabulary
bool may_truncate_source(ModelKind kind);    // translation models, classifiers of text, encoders

// Does the model prepend the begin token to every text itself? One with pooling of the first token
// does, unless its tokenizer has.
bool puts_begin_first(const TransformerConfig& config);

// What embedded tokens are multiplied by.
float embedding_scale(const TransformerConfig& config);
// The token whose vector gets no gradient where it is looked up; -1: there is none.
int frozen_token(const TransformerConfig& config);
// The width of the embeddings' table.
Index embedding_width(const TransformerConfig& config);
// Are the embeddings, with positions and norm, of a width of their own?
bool has_projected_sum(const TransformerConfig& config);

// The tokens of an image, without and with its class token, and the numbers that a patch is made
// of.
Index num_patches(const TransformerConfig& config);
Index num_image_tokens(const TransformerConfig& config);
Index patch_dim(const TransformerConfig& config);

// The longest sequence: of learned positions; no bound otherwise.
Index max_positions(const TransformerConfig& config);

// The number of trainable parameters of a model of this configuration; those that layers share
// count once.
Index num_parameters(const TransformerConfig& config);

// The head that guided alignment trains: the first of the last cross-attention but one (Garg and
// others 2019).
std::string alignment_layer(const TransformerConfig& config);  // "decoder.2.cross_attention"
inline constexpr Index alignment_head = 0;

// The sizes and choices of the encoder's and of the decoder's stack.
nn::TransformerOptions encoder_options(const TransformerConfig& config);
nn::TransformerOptions decoder_options(const TransformerConfig& config);
// Those of the projection to the vocabulary.
nn::OutputProjectionOptions output_options(const TransformerConfig& config);

// As config.json holds it, and back. Reading checks every field (ErrorKind::model).
std::string to_json(const TransformerConfig& config);
TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace heed::models
