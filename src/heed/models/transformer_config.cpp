#include "heed/models/transformer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "heed/nn/output_projection.h"
#include "heed/nn/transformer_block.h"

namespace heed {

template <>
std::span<const Choice<models::ModelKind>> choices() {
  static constexpr std::array all{
      Choice{"heed-translation", models::ModelKind::translation},
      Choice{"heed-language", models::ModelKind::language},
      Choice{"heed-classifier", models::ModelKind::classifier},
      Choice{"heed-masked", models::ModelKind::masked},
      Choice{"heed-image-classifier", models::ModelKind::image_classifier},
      Choice{"heed-tagger", models::ModelKind::tagger},
      Choice{"heed-encoder", models::ModelKind::encoder}};
  return all;
}
template <>
std::span<const Choice<models::NormPlace>> choices() {
  static constexpr std::array all{Choice{"before", models::NormPlace::before},
                                  Choice{"after", models::NormPlace::after},
                                  Choice{"around", models::NormPlace::around}};
  return all;
}
template <>
std::span<const Choice<models::NormKind>> choices() {
  static constexpr std::array all{Choice{"layer", models::NormKind::layer},
                                  Choice{"rms", models::NormKind::rms}};
  return all;
}
template <>
std::span<const Choice<models::Positions>> choices() {
  static constexpr std::array all{
      Choice{"sinusoidal", models::Positions::sinusoidal},
      Choice{"learned", models::Positions::learned}, Choice{"rotary", models::Positions::rotary},
      Choice{"alibi", models::Positions::alibi}, Choice{"none", models::Positions::none}};
  return all;
}
template <>
std::span<const Choice<models::Activation>> choices() {
  static constexpr std::array all{Choice{"relu", models::Activation::relu},
                                  Choice{"gelu", models::Activation::gelu},
                                  Choice{"swiglu", models::Activation::swiglu},
                                  Choice{"gelu_tanh", models::Activation::gelu_tanh},
                                  Choice{"quick_gelu", models::Activation::quick_gelu},
                                  Choice{"silu", models::Activation::silu}};
  return all;
}
template <>
std::span<const Choice<models::Tying>> choices() {
  static constexpr std::array all{
      Choice{"none", models::Tying::none}, Choice{"target", models::Tying::target},
      Choice{"all", models::Tying::all}, Choice{"inputs", models::Tying::inputs}};
  return all;
}
template <>
std::span<const Choice<models::Pooling>> choices() {
  static constexpr std::array all{
      Choice{"first", models::Pooling::first}, Choice{"mean", models::Pooling::mean},
      Choice{"attention", models::Pooling::attention}, Choice{"last", models::Pooling::last},
      Choice{"max", models::Pooling::max}};
  return all;
}
template <>
std::span<const Choice<models::HeadLayer>> choices() {
  static constexpr std::array all{
      Choice{"none", models::HeadLayer::none}, Choice{"tanh", models::HeadLayer::tanh},
      Choice{"relu", models::HeadLayer::relu}, Choice{"gelu", models::HeadLayer::gelu}};
  return all;
}
template <>
std::span<const Choice<models::EmbeddingProjection>> choices() {
  static constexpr std::array all{Choice{"sum", models::EmbeddingProjection::sum},
                                  Choice{"words", models::EmbeddingProjection::words}};
  return all;
}
template <>
std::span<const Choice<models::AttentionBias>> choices() {
  static constexpr std::array all{Choice{"none", models::AttentionBias::none},
                                  Choice{"query_key_value", models::AttentionBias::query_key_value},
                                  Choice{"output", models::AttentionBias::output},
                                  Choice{"all", models::AttentionBias::all}};
  return all;
}
template <>
std::span<const Choice<models::BlockForm>> choices() {
  static constexpr std::array all{
      Choice{"sequential", models::BlockForm::sequential},
      Choice{"parallel", models::BlockForm::parallel},
      Choice{"parallel_one_norm", models::BlockForm::parallel_one_norm}};
  return all;
}
template <>
std::span<const Choice<ops::SinusoidOrder>> choices() {
  static constexpr std::array all{Choice{"interleaved", ops::SinusoidOrder::interleaved},
                                  Choice{"halves", ops::SinusoidOrder::halves},
                                  Choice{"whole_halves", ops::SinusoidOrder::whole_halves}};
  return all;
}
template <>
std::span<const Choice<ops::RotaryScaling>> choices() {
  static constexpr std::array all{
      Choice{"none", ops::RotaryScaling::none}, Choice{"linear", ops::RotaryScaling::linear},
      Choice{"llama3", ops::RotaryScaling::llama3}, Choice{"yarn", ops::RotaryScaling::yarn},
      Choice{"longrope", ops::RotaryScaling::longrope}};
  return all;
}
template <>
std::span<const Choice<ProblemType>> choices() {  // as in Hugging Face's config.json
  static constexpr std::array all{Choice{"single_label_classification", ProblemType::single_label},
                                  Choice{"multi_label_classification", ProblemType::multi_label},
                                  Choice{"regression", ProblemType::regression}};
  return all;
}
template <>
std::span<const Choice<models::WeightFormat>> choices() {
  static constexpr std::array all{
      Choice{"f32", models::WeightFormat::f32}, Choice{"f16", models::WeightFormat::f16},
      Choice{"bf16", models::WeightFormat::bf16}, Choice{"int8", models::WeightFormat::int8},
      Choice{"int4", models::WeightFormat::int4}};
  return all;
}

}  // namespace heed

namespace heed::models {

bool has_text(ModelKind kind) { return kind != ModelKind::image_classifier; }
bool has_classes(ModelKind kind) {
  return kind == ModelKind::classifier || kind == ModelKind::image_classifier ||
         kind == ModelKind::tagger;
}
bool has_pooling(ModelKind kind) {
  return kind == ModelKind::classifier || kind == ModelKind::image_classifier ||
         kind == ModelKind::encoder;
}
bool has_encoder(ModelKind kind) { return kind != ModelKind::language; }
bool has_decoder(ModelKind kind) {
  return kind == ModelKind::translation || kind == ModelKind::language;
}
bool is_text_classifier(ModelKind kind) { return kind == ModelKind::classifier; }
bool is_sentence_encoder(ModelKind kind) { return kind == ModelKind::encoder; }
bool has_output_projection(ModelKind kind) {
  return has_decoder(kind) || kind == ModelKind::masked;
}

bool may_truncate_source(ModelKind kind) {
  return kind == ModelKind::translation || kind == ModelKind::classifier ||
         kind == ModelKind::encoder;
}

bool puts_begin_first(const TransformerConfig& config) {
  const bool has_first =
      has_text(config.kind) && has_pooling(config.kind) && config.pooling == Pooling::first;
  return has_first && config.prepends_begin;
}

// Rows of length 1 become as large as the sinusoids that are added to them (Vaswani and others
// 2017, section 3.4).
float embedding_scale(const TransformerConfig& config) {
  return config.embedding_scale.value_or(std::sqrt(static_cast<float>(config.model_dim)));
}

int frozen_token(const TransformerConfig& config) {
  return config.freezes_padding ? config.tokens.pad : text::SpecialTokens::none;
}

Index embedding_width(const TransformerConfig& config) {
  return config.embedding_dim > 0 ? config.embedding_dim : config.model_dim;
}

bool has_projected_sum(const TransformerConfig& config) {
  return config.embedding_dim > 0 && config.embedding_projection == EmbeddingProjection::sum;
}

Index num_patches(const TransformerConfig& config) {
  return (config.image_height / config.patch_side) * (config.image_width / config.patch_side);
}

Index num_image_tokens(const TransformerConfig& config) {
  return num_patches(config) + (config.has_class_token ? 1 : 0);
}

Index patch_dim(const TransformerConfig& config) {
  return config.patch_side * config.patch_side * config.image_channels;
}

Index max_positions(const TransformerConfig& config) {
  const bool is_bounded = config.positions == Positions::learned;
  return is_bounded ? config.max_positions : std::numeric_limits<Index>::max();
}

std::string alignment_layer(const TransformerConfig& config) {
  return fmt::format("decoder.{}.cross_attention", std::max<Index>(config.decoder_layers - 2, 0));
}

namespace {

std::optional<ops::RelativeBuckets> relative_positions(const TransformerConfig& config,
                                                       bool is_bidirectional) {
  if (config.relative_buckets == 0) return std::nullopt;
  return ops::RelativeBuckets{.num_buckets = config.relative_buckets,
                              .max_distance = config.relative_max_distance,
                              .is_bidirectional = is_bidirectional};
}

}  // namespace

nn::TransformerOptions encoder_options(const TransformerConfig& config) {
  return {.num_layers = config.encoder_layers,
          .model_dim = config.model_dim,
          .feed_forward_dim = config.feed_forward_dim,
          .num_heads = config.num_heads,
          .num_key_value_heads = config.num_key_value_heads,
          .head_dim = config.head_dim,
          .embedding_dim = has_projected_sum(config) ? config.embedding_dim : 0,
          .attention_bias = config.attention_bias,
          .has_feed_forward_bias = config.has_feed_forward_bias,
          .has_feed_forward_gate = config.has_feed_forward_gate,
          .max_positions = has_text(config.kind) ? config.max_positions : num_image_tokens(config),
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout,
          .activation_dropout = config.activation_dropout,
          .similarity = config.similarity,
          .attention_scale = config.attention_scale,
          .has_layer_scale = config.has_layer_scale,
          .attention_softcap = config.attention_softcap,
          .windows = config.windows,
          .block_form = config.block_form,
          .norm_place = config.norm_place,
          .norm_kind = config.norm_kind,
          .norm_epsilon = config.norm_epsilon,
          .has_norm_bias = config.has_norm_bias,
          .has_norm_unit_offset = config.has_norm_unit_offset,
          .has_embedding_norm = config.has_embedding_norm,
          .has_final_norm = config.has_final_norm,
          .positions = config.positions,
          .position_offset = config.position_offset,
          .sinusoid_order = config.sinusoid_order,
          .rotary = config.rotary,
          .relative_positions = relative_positions(config, /*is_bidirectional=*/true),
          .has_query_key_norm = config.has_query_key_norm,
          .activation = config.activation,
          .has_shared_layers = config.has_shared_layers};
}

nn::TransformerOptions decoder_options(const TransformerConfig& config) {
  nn::TransformerOptions options = encoder_options(config);
  options.num_layers = config.decoder_layers;
  if (config.decoder_heads > 0) options.num_heads = config.decoder_heads;
  if (config.decoder_feed_forward_dim > 0) {
    options.feed_forward_dim = config.decoder_feed_forward_dim;
  }
  options.relative_positions = relative_positions(config, /*is_bidirectional=*/false);
  options.is_causal = true;
  options.has_cross_attention = has_encoder(config.kind);
  return options;
}

nn::OutputProjectionOptions output_options(const TransformerConfig& config) {
  // Without a transform the projection gets vectors of the model's width.
  const bool is_of_embeddings = config.has_output_transform || !has_projected_sum(config);
  nn::OutputProjectionOptions options{
      .input_dim = is_of_embeddings ? embedding_width(config) : config.model_dim,
      .vocabulary = config.vocabulary,
      .is_tied = config.tying == Tying::target || config.tying == Tying::all,
      .has_bias = config.has_output_bias,
      .scale = config.output_scale,
      .softcap = config.logit_softcap};
  if (!config.has_output_transform) return options;
  options.transform = {.hidden_dim = config.model_dim,
                       .activation = config.output_activation.value_or(config.activation),
                       .norm = encoder_options(config).norm()};
  return options;
}

}  // namespace heed::models
