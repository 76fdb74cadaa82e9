#include "heed/models/transformer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "heed/base/printable.h"
#include "heed/models/config_fields.h"
#include "heed/nn/transformer_block.h"
#include "heed/text/label.h"

namespace heed {

template <>
std::span<const Choice<models::ModelKind>> choices() {
  static constexpr std::array all{
      Choice{"heed-translation", models::ModelKind::translation},
      Choice{"heed-language", models::ModelKind::language},
      Choice{"heed-classifier", models::ModelKind::classifier},
      Choice{"heed-masked", models::ModelKind::masked},
      Choice{"heed-image-classifier", models::ModelKind::image_classifier},
      Choice{"heed-tagger", models::ModelKind::tagger}};
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
  static constexpr std::array all{Choice{"none", models::Tying::none},
                                  Choice{"target", models::Tying::target},
                                  Choice{"all", models::Tying::all}};
  return all;
}
template <>
std::span<const Choice<models::Pooling>> choices() {
  static constexpr std::array all{Choice{"first", models::Pooling::first},
                                  Choice{"mean", models::Pooling::mean},
                                  Choice{"attention", models::Pooling::attention}};
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
std::span<const Choice<models::AttentionBias>> choices() {
  static constexpr std::array all{Choice{"none", models::AttentionBias::none},
                                  Choice{"query_key_value", models::AttentionBias::query_key_value},
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
                                  Choice{"halves", ops::SinusoidOrder::halves}};
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
bool has_classes(ModelKind kind) { return has_pooling(kind) || kind == ModelKind::tagger; }
bool has_pooling(ModelKind kind) {
  return kind == ModelKind::classifier || kind == ModelKind::image_classifier;
}
bool has_encoder(ModelKind kind) { return kind != ModelKind::language; }
bool has_decoder(ModelKind kind) {
  return kind == ModelKind::translation || kind == ModelKind::language;
}
bool is_text_classifier(ModelKind kind) { return kind == ModelKind::classifier; }

bool may_truncate_source(ModelKind kind) {
  return kind == ModelKind::translation || kind == ModelKind::classifier;
}

namespace {

constexpr std::size_t max_labels = 1 << 20;

// Rules that tie settings together.
class Validator {
 public:
  Validator(const TransformerConfig& config, std::string_view what, ErrorKind kind)
      : config_(config), what_(what), kind_(kind) {}

  void check_kind() const {
    if (has_text(config_.kind))
      require(config_.vocabulary > 0, "expected a vocabulary of at least 1, found 0");
    check_layers("encoder layers", config_.encoder_layers, has_encoder(config_.kind));
    check_layers("decoder layers", config_.decoder_layers, has_decoder(config_.kind));
  }

  void check_attention() const {
    const Index dim = config_.model_dim, heads = config_.num_heads;
    const Index key_value_heads = ops::num_key_value_heads(config_);
    const Index head_dim = config_.head_dim > 0 ? config_.head_dim : dim / heads;
    require(config_.head_dim > 0 || dim % heads == 0, "expected heads that divide the width ", dim,
            ", found ", heads);
    require(heads % key_value_heads == 0, "expected key/value heads that divide the ", heads,
            " heads, found ", key_value_heads);
    const Index rotary_dim = config_.rotary.dim > 0 ? config_.rotary.dim : head_dim;
    require(config_.positions != Positions::rotary || rotary_dim % 2 == 0,
            "expected heads of an even width for rotary positions, found ", rotary_dim);
    require(rotary_dim <= head_dim, "expected a rotary width within the ", head_dim,
            " of a head, found ", rotary_dim);
    require(config_.guided_alignment == 0 || config_.similarity == ops::Similarity::scaled_dot,
            "expected scaled dot products for guided alignment, found ",
            name_of(config_.similarity));
  }

  void check_images() const {
    if (has_text(config_.kind)) return;
    const Index height = config_.image_height, width = config_.image_width;
    require(config_.image_channels != 2, "expected 1 or 3 image channels, found 2");
    require(height % config_.patch_side == 0 && width % config_.patch_side == 0,
            "expected a patch side that divides an image of ", width, " x ", height, ", found ",
            config_.patch_side);
    // An image has no begin token.
    require(config_.pooling != Pooling::first,
            "expected the pooling mean or attention for images, found first");
  }

  void check_problem() const {
    const bool is_regression = config_.problem_type == ProblemType::regression;
    require(config_.problem_type == ProblemType::single_label || is_text_classifier(config_.kind),
            "expected the problem type ", name_of(ProblemType::single_label), " for ",
            name_of(config_.kind), ", found ", name_of(config_.problem_type));
    require(!config_.text_pairs || is_text_classifier(config_.kind), "expected single texts for ",
            name_of(config_.kind), ", found pairs");
    require(!is_regression || config_.labels.size() <= 1,
            "expected one label for regression, the name of the number, found ",
            config_.labels.size());
    require(!is_regression || config_.label_smoothing == 0,
            "expected no label smoothing for regression, found ", config_.label_smoothing);
  }

  void check_labels() const {
    require(config_.labels.size() <= max_labels, "expected at most ", max_labels, " labels, found ",
            config_.labels.size());
    std::set<std::string_view> labels;
    for (const std::string& label : config_.labels) {
      text::check_label(label, what_, kind_);
      require(labels.insert(label).second, "expected labels that differ, found ", excerpt(label),
              " twice");
    }
  }

 private:
  void check_layers(std::string_view name, Index layers, bool exist) const {
    if (exist) return require(layers > 0, "expected ", name, " of at least 1, found ", layers);
    require(layers == 0, "expected no ", name, " for ", name_of(config_.kind), ", found ", layers);
  }
  template <typename... Parts>
  void require(bool ok, const Parts&... parts) const {
    check_as(kind_, ok, what_, ": ", parts...);
  }

  const TransformerConfig& config_;
  std::string_view what_;
  ErrorKind kind_;
};

}  // namespace

void validate(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  check_ranges(config, what, kind);
  const Validator validator(config, what, kind);
  validator.check_kind();
  validator.check_attention();
  validator.check_images();
  validator.check_problem();
  validator.check_labels();
}

bool puts_begin_first(const TransformerConfig& config) {
  return config.kind == ModelKind::classifier && config.pooling == Pooling::first;
}

Index num_patches(const TransformerConfig& config) {
  return (config.image_height / config.patch_side) * (config.image_width / config.patch_side);
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
          .attention_bias = config.attention_bias,
          .has_feed_forward_bias = config.has_feed_forward_bias,
          .has_feed_forward_gate = config.has_feed_forward_gate,
          .max_positions = has_text(config.kind) ? config.max_positions : num_patches(config),
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout,
          .activation_dropout = config.activation_dropout,
          .similarity = config.similarity,
          .attention_scale = config.attention_scale,
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
          .activation = config.activation};
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

}  // namespace heed::models
