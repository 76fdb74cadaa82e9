#include "heed/models/transformer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "heed/io/json_fields.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

// Clang finds this by itself from version 17 on.
template <typename Value>
Choice(const char*, Value) -> Choice<Value>;

template <>
std::span<const Choice<ModelKind>> choices() {
  static constexpr std::array all{Choice{"heed-translation", ModelKind::translation},
                                  Choice{"heed-language", ModelKind::language},
                                  Choice{"heed-classifier", ModelKind::classifier},
                                  Choice{"heed-masked", ModelKind::masked},
                                  Choice{"heed-image-classifier", ModelKind::image_classifier}};
  return all;
}
template <>
std::span<const Choice<NormPlace>> choices() {
  static constexpr std::array all{Choice{"before", NormPlace::before},
                                  Choice{"after", NormPlace::after}};
  return all;
}
template <>
std::span<const Choice<NormKind>> choices() {
  static constexpr std::array all{Choice{"layer", NormKind::layer}, Choice{"rms", NormKind::rms}};
  return all;
}
template <>
std::span<const Choice<Positions>> choices() {
  static constexpr std::array all{
      Choice{"sinusoidal", Positions::sinusoidal}, Choice{"learned", Positions::learned},
      Choice{"rotary", Positions::rotary}, Choice{"alibi", Positions::alibi},
      Choice{"none", Positions::none}};
  return all;
}
template <>
std::span<const Choice<Activation>> choices() {
  static constexpr std::array all{Choice{"relu", Activation::relu},
                                  Choice{"gelu", Activation::gelu},
                                  Choice{"swiglu", Activation::swiglu}};
  return all;
}
template <>
std::span<const Choice<Tying>> choices() {
  static constexpr std::array all{Choice{"none", Tying::none}, Choice{"target", Tying::target},
                                  Choice{"all", Tying::all}};
  return all;
}
template <>
std::span<const Choice<Pooling>> choices() {
  static constexpr std::array all{Choice{"first", Pooling::first}, Choice{"mean", Pooling::mean},
                                  Choice{"attention", Pooling::attention}};
  return all;
}
template <>
std::span<const Choice<ops::Similarity>> choices() {
  static constexpr std::array all{Choice{"dot", ops::Similarity::dot},
                                  Choice{"cosine", ops::Similarity::cosine},
                                  Choice{"scaled-dot", ops::Similarity::scaled_dot}};
  return all;
}
template <>
std::span<const Choice<WeightFormat>> choices() {
  static constexpr std::array all{
      Choice{"f32", WeightFormat::f32}, Choice{"f16", WeightFormat::f16},
      Choice{"bf16", WeightFormat::bf16}, Choice{"int8", WeightFormat::int8},
      Choice{"int4", WeightFormat::int4}};
  return all;
}

namespace {

using nlohmann::ordered_json;

// Far beyond what a processor trains, and small enough that products of two fit an Index.
constexpr Index max_size = Index{1} << 24;
constexpr Index max_layers = 1024;
constexpr double max_guidance = 1000;  // of the weight of guided alignment

class Validator {
 public:
  Validator(std::string_view what, ErrorKind kind) : what_(what), kind_(kind) {}

  void size(std::string_view name, Index value, Index max = max_size) const {
    check_as(kind_, value >= 1 && value <= max, what_, ": expected ", name, " from 1 to ", max,
             ", found ", value);
  }
  void rate(std::string_view name, float value) const {
    check_as(kind_, value >= 0 && value < 1, what_, ": expected ", name,
             " of at least 0 and below 1, found ", value);
  }
  template <typename... Parts>
  void require(bool ok, const Parts&... parts) const {
    check_as(kind_, ok, what_, ": ", parts...);
  }

 private:
  std::string_view what_;
  ErrorKind kind_;
};

bool has_text(ModelKind kind) { return kind != ModelKind::image_classifier; }
bool has_classes(ModelKind kind) {
  return kind == ModelKind::classifier || kind == ModelKind::image_classifier;
}
bool has_encoder(ModelKind kind) { return kind != ModelKind::language; }
bool has_decoder(ModelKind kind) {
  return kind == ModelKind::translation || kind == ModelKind::language;
}

void validate_layers(const Validator& expect, std::string_view name, Index layers, ModelKind kind,
                     bool is_there) {
  if (is_there) return expect.size(name, layers, max_layers);
  expect.require(layers == 0, "expected no ", name, " for ", name_of(kind), ", found ", layers);
}

// The longest sequence that learned positions know: an image has one place for each patch.
Index num_positions(const TransformerConfig& config) {
  return has_text(config.kind) ? config.max_positions : num_patches(config);
}

void validate_image(const Validator& expect, const TransformerConfig& config) {
  constexpr Index max_side = Index{1} << 13;
  expect.size("an image height", config.image_height, max_side);
  expect.size("an image width", config.image_width, max_side);
  expect.size("a patch side", config.patch_side, max_side);
  expect.require(config.image_channels == 1 || config.image_channels == 3,
                 "expected 1 or 3 image channels, found ", config.image_channels);
  expect.require(
      config.image_height % config.patch_side == 0 && config.image_width % config.patch_side == 0,
      "expected a patch side that divides an image of ", config.image_width, " x ",
      config.image_height, ", found ", config.patch_side);
  // There is no word that every image could begin with.
  expect.require(config.pooling != Pooling::first,
                 "expected the pooling mean or attention for images, found first");
}

// 0.3f as 0.3, not as 0.30000001192092896.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }

}  // namespace

void validate(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  const Validator expect(what, kind);
  if (has_text(config.kind)) expect.size("a vocabulary", config.vocabulary);
  if (config.kind == ModelKind::image_classifier) validate_image(expect, config);
  validate_layers(expect, "encoder layers", config.encoder_layers, config.kind,
                  has_encoder(config.kind));
  validate_layers(expect, "decoder layers", config.decoder_layers, config.kind,
                  has_decoder(config.kind));
  expect.require(config.weights == WeightFormat::f32 || has_decoder(config.kind),
                 "expected weights of f32 for ", name_of(config.kind), ", found ",
                 name_of(config.weights));
  expect.size("a width", config.model_dim);
  expect.size("a feed-forward width", config.feed_forward_dim);
  expect.size("heads", config.num_heads);
  expect.size("positions", config.max_positions);
  expect.rate("dropout", config.dropout);
  expect.rate("attention dropout", config.attention_dropout);
  expect.rate("activation dropout", config.activation_dropout);
  expect.rate("label smoothing", config.label_smoothing);
  expect.require(config.guided_alignment >= 0 && config.guided_alignment <= max_guidance,
                 "expected a weight of guided alignment from 0 to ", max_guidance, ", found ",
                 config.guided_alignment);
  expect.require(config.guided_alignment == 0 || config.similarity == ops::Similarity::scaled_dot,
                 "expected scaled dot products for guided alignment, found ",
                 name_of(config.similarity));
  expect.require(config.model_dim % config.num_heads == 0, "expected heads that divide the width ",
                 config.model_dim, ", found ", config.num_heads);
  expect.require(
      config.num_key_value_heads >= 0 &&
          (config.num_key_value_heads == 0 || config.num_heads % config.num_key_value_heads == 0),
      "expected key/value heads that divide the ", config.num_heads, " heads, found ",
      config.num_key_value_heads);
  expect.require(
      config.positions != Positions::rotary || (config.model_dim / config.num_heads) % 2 == 0,
      "expected heads of an even width for rotary positions, found ",
      config.model_dim / config.num_heads);
  std::set<std::string_view> labels;
  for (const std::string& label : config.labels) {
    expect.require(labels.insert(label).second, "expected labels that differ, found ", label,
                   " twice");
  }
}

namespace {

// Radford and others 2019, and smaller ones of the same kind.
TransformerConfig language_preset(Index layers, Index width, Index heads, Index context,
                                  float dropout) {
  TransformerConfig config;
  config.kind = ModelKind::language;
  config.encoder_layers = 0;
  config.decoder_layers = layers;
  config.model_dim = width;
  config.feed_forward_dim = 4 * width;
  config.num_heads = heads;
  config.max_positions = context;
  config.dropout = dropout;
  config.label_smoothing = 0;
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.activation = Activation::gelu;
  return config;
}

// For 1 MB of characters within an hour on two cores, where learned positions learn too slowly
// (docs/generate.md). Three matrices of 1,024 hold as many numbers as two of 4 x 384.
TransformerConfig gpt_mini_preset() {
  TransformerConfig config = language_preset(6, 384, 6, 256, 0.1f);
  config.positions = Positions::rotary;
  config.activation = Activation::swiglu;
  config.feed_forward_dim = 1024;
  return config;
}

TransformerConfig translation_preset(Index layers, Index width, Index feed_forward, Index heads,
                                     float dropout) {
  TransformerConfig config;
  config.encoder_layers = config.decoder_layers = layers;
  config.model_dim = width;
  config.feed_forward_dim = feed_forward;
  config.num_heads = heads;
  config.dropout = dropout;
  return config;
}

// For short lines. Both kinds have the same sizes, so that a classifier can begin with what a
// masked model has learned.
TransformerConfig encoder_preset(ModelKind kind, float dropout, float label_smoothing) {
  TransformerConfig config;
  config.kind = kind;
  config.encoder_layers = 2;
  config.decoder_layers = 0;
  config.model_dim = 128;
  config.feed_forward_dim = 512;
  config.num_heads = 4;
  config.dropout = dropout;
  config.label_smoothing = label_smoothing;
  config.norm_place = NormPlace::before;
  config.activation = Activation::gelu;
  return config;
}

// For small images, such as MNIST's: 16 patches of 7 x 7 pixels.
TransformerConfig image_preset() {
  TransformerConfig config = encoder_preset(ModelKind::image_classifier, 0.1f, 0.1f);
  config.encoder_layers = 4;
  config.model_dim = 64;
  config.feed_forward_dim = 256;
  config.positions = Positions::learned;
  config.patch_side = 7;
  return config;
}

TransformerConfig demo_preset() {
  TransformerConfig config = translation_preset(2, 128, 256, 4, 0.1f);
  config.norm_place = NormPlace::before;
  return config;
}

const auto& presets() {
  static const std::array all{
      std::pair{"tiny", translation_preset(4, 128, 256, 4, 0.3f)},
      std::pair{"small", translation_preset(6, 256, 1024, 4, 0.1f)},
      std::pair{"base", translation_preset(6, 512, 2048, 8, 0.1f)},
      std::pair{"demo", demo_preset()},
      std::pair{"char", language_preset(4, 128, 4, 64, 0)},
      std::pair{"gpt-mini", gpt_mini_preset()},
      std::pair{"gpt2", language_preset(12, 768, 12, 1024, 0.1f)},
      std::pair{"classes", encoder_preset(ModelKind::classifier, 0.3f, 0.1f)},
      std::pair{"masked", encoder_preset(ModelKind::masked, 0.1f, 0)},
      std::pair{"images", image_preset()},
  };
  return all;
}

}  // namespace

std::string preset_names() {
  std::string names;
  for (const auto& [name, config] : presets()) names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

TransformerConfig transformer_preset(std::string_view name) {
  for (const auto& [its_name, config] : presets()) {
    if (name == its_name) return config;
  }
  fail(ErrorKind::usage, "preset: expected one of ", preset_names(), ", found ", name);
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

Index num_parameters(const TransformerConfig& config) {
  const Index d = config.model_dim, f = config.feed_forward_dim;
  const Index key_value_heads =
      config.num_key_value_heads == 0 ? config.num_heads : config.num_key_value_heads;
  const Index key_dim = d / config.num_heads * key_value_heads;
  const Index attention = 2 * (d * d + d) + 2 * (d * key_dim + key_dim);
  const Index into_hidden = config.activation == Activation::swiglu ? 2 : 1;
  const Index feed_forward = into_hidden * (d * f + f) + f * d + d;
  const Index norm = config.norm_kind == NormKind::layer ? 2 * d : d;
  const Index per_stack = (config.positions == Positions::learned ? num_positions(config) * d : 0) +
                          (config.norm_place == NormPlace::before ? norm : 0);
  const Index block = attention + feed_forward + 2 * norm;
  const Index table = config.vocabulary * d;
  const Index layers = config.encoder_layers + config.decoder_layers;
  switch (config.kind) {
    case ModelKind::translation: {
      const Index tables = config.tying == Tying::all ? 1 : config.tying == Tying::target ? 2 : 3;
      return tables * table + 2 * per_stack + layers * block +
             config.decoder_layers * (attention + norm);
    }
    case ModelKind::classifier:
    case ModelKind::image_classifier: {
      const auto num_labels = static_cast<Index>(config.labels.size());
      const Index pooling = config.pooling == Pooling::attention ? d : 0;
      const Index embedding = has_text(config.kind) ? table : d * patch_dim(config) + d;
      return embedding + per_stack + layers * block + pooling + num_labels * (d + 1);
    }
    case ModelKind::language:
    case ModelKind::masked:
      break;
  }
  const Index tables = config.tying == Tying::none ? 2 : 1;
  return tables * table + per_stack + layers * block;
}

std::string alignment_layer(const TransformerConfig& config) {
  return fmt::format("decoder.{}.cross_attention", std::max<Index>(config.decoder_layers - 2, 0));
}

nn::BlockOptions encoder_options(const TransformerConfig& config) {
  return {.num_layers = config.encoder_layers,
          .model_dim = config.model_dim,
          .feed_forward_dim = config.feed_forward_dim,
          .num_heads = config.num_heads,
          .num_key_value_heads = config.num_key_value_heads,
          .max_positions = num_positions(config),
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout,
          .activation_dropout = config.activation_dropout,
          .similarity = config.similarity,
          .norm_place = config.norm_place,
          .norm_kind = config.norm_kind,
          .positions = config.positions,
          .activation = config.activation};
}

nn::BlockOptions decoder_options(const TransformerConfig& config) {
  nn::BlockOptions options = encoder_options(config);
  options.num_layers = config.decoder_layers;
  return options;
}

std::string to_json(const TransformerConfig& config) {
  ordered_json json{{"model_type", name_of(config.kind)},
                    {"vocab_size", config.vocabulary},
                    {"d_model", config.model_dim},
                    {"encoder_layers", config.encoder_layers},
                    {"decoder_layers", config.decoder_layers},
                    {"ffn_dim", config.feed_forward_dim},
                    {"attention_heads", config.num_heads},
                    {"key_value_heads", config.num_key_value_heads},
                    {"max_position_embeddings", config.max_positions},
                    {"dropout", shortest(config.dropout)},
                    {"attention_dropout", shortest(config.attention_dropout)},
                    {"activation_dropout", shortest(config.activation_dropout)},
                    {"label_smoothing", shortest(config.label_smoothing)},
                    {"guided_alignment", shortest(config.guided_alignment)},
                    {"similarity", name_of(config.similarity)},
                    {"norm_place", name_of(config.norm_place)},
                    {"norm_kind", name_of(config.norm_kind)},
                    {"positions", name_of(config.positions)},
                    {"activation_function", name_of(config.activation)},
                    {"tied_embeddings", name_of(config.tying)},
                    {"weights", name_of(config.weights)}};
  if (has_text(config.kind)) {
    json["pad_token_id"] = text::Tokenizer::pad;
    json["unk_token_id"] = text::Tokenizer::unknown;
    json["bos_token_id"] = text::Tokenizer::begin;
    json["eos_token_id"] = text::Tokenizer::end;
    json["decoder_start_token_id"] = text::Tokenizer::end;
  } else {
    json["image_height"] = config.image_height;
    json["image_width"] = config.image_width;
    json["num_channels"] = config.image_channels;
    json["patch_size"] = config.patch_side;
  }
  if (has_classes(config.kind)) {
    json["pooling"] = name_of(config.pooling);
    json["labels"] = config.labels;
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name) {
  const std::string file(file_name);
  const auto fields = io::JsonFields::parse(text, file);
  const auto size = [&](const char* name) {
    return fields.integer(name, {.min = 1, .max = max_size});
  };
  const auto rate = [&](const char* name) {
    return static_cast<float>(fields.number_or(name, 0, {.min = 0, .max = 1}));
  };
  const auto choose = [&]<typename Value>(const char* name, Value& value) {
    if (!fields.has(name)) return;
    value = parse_choice<Value>(fields.text(name), file + ": " + name, ErrorKind::model);
  };

  TransformerConfig config;
  config.kind =
      parse_choice<ModelKind>(fields.text("model_type"), file + ": model_type", ErrorKind::model);
  config.vocabulary =
      fields.integer("vocab_size", {.min = has_text(config.kind) ? 1 : 0, .max = max_size});
  config.model_dim = size("d_model");
  config.encoder_layers = fields.integer("encoder_layers", {.min = 0, .max = max_layers});
  config.decoder_layers = fields.integer("decoder_layers", {.min = 0, .max = max_layers});
  config.feed_forward_dim = size("ffn_dim");
  config.num_heads = size("attention_heads");
  config.num_key_value_heads = fields.integer_or("key_value_heads", 0, {.min = 0, .max = max_size});
  config.max_positions = fields.integer_or("max_position_embeddings", config.max_positions,
                                           {.min = 1, .max = max_size});
  config.dropout = rate("dropout");
  config.attention_dropout = rate("attention_dropout");
  config.activation_dropout = rate("activation_dropout");
  config.label_smoothing = rate("label_smoothing");
  config.guided_alignment =
      static_cast<float>(fields.number_or("guided_alignment", 0, {.min = 0, .max = max_guidance}));
  choose("similarity", config.similarity);
  choose("norm_place", config.norm_place);
  choose("norm_kind", config.norm_kind);
  choose("positions", config.positions);
  choose("activation_function", config.activation);
  choose("tied_embeddings", config.tying);
  if (!has_text(config.kind)) {
    config.image_height = size("image_height");
    config.image_width = size("image_width");
    config.image_channels = size("num_channels");
    config.patch_side = size("patch_size");
  }
  if (has_classes(config.kind)) {
    choose("pooling", config.pooling);
    config.labels = fields.texts("labels");
    check_as(ErrorKind::model, !config.labels.empty(), file,
             ": labels: expected the names of classes, found none");
  }
  choose("weights", config.weights);
  validate(config, file, ErrorKind::model);
  return config;
}

}  // namespace heed::models
