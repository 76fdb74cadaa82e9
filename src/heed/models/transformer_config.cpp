#include "heed/models/transformer_config.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/io/json_fields.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

ModelKind kind_of(const TransformerConfig& config) {
  return config.encoder_layers == 0 ? ModelKind::language : ModelKind::translation;
}

template <>
std::span<const Choice<ModelKind>> choices() {
  static constexpr std::array all{Choice{"heed-translation", ModelKind::translation},
                                  Choice{"heed-language", ModelKind::language}};
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
std::span<const Choice<ops::Similarity>> choices() {
  static constexpr std::array all{Choice{"dot", ops::Similarity::dot},
                                  Choice{"cosine", ops::Similarity::cosine},
                                  Choice{"scaled-dot", ops::Similarity::scaled_dot}};
  return all;
}

namespace {

using nlohmann::ordered_json;

// Far beyond what a processor trains, and small enough that products of two fit an Index.
constexpr Index max_size = Index{1} << 24;
constexpr Index max_layers = 1024;

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

// 0.3f as 0.3, not as 0.30000001192092896.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }

}  // namespace

void validate(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  const Validator expect(what, kind);
  expect.size("a vocabulary", config.vocabulary);
  expect.require(config.encoder_layers >= 0 && config.encoder_layers <= max_layers,
                 "expected encoder layers from 0 to ", max_layers, ", found ",
                 config.encoder_layers);
  expect.size("decoder layers", config.decoder_layers, max_layers);
  expect.size("a width", config.model_dim);
  expect.size("a feed-forward width", config.feed_forward_dim);
  expect.size("heads", config.num_heads);
  expect.size("positions", config.max_positions);
  expect.rate("dropout", config.dropout);
  expect.rate("attention dropout", config.attention_dropout);
  expect.rate("activation dropout", config.activation_dropout);
  expect.rate("label smoothing", config.label_smoothing);
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
}

namespace {

// Radford and others 2019, and smaller ones of the same kind.
TransformerConfig language_preset(Index layers, Index width, Index heads, Index context,
                                  float dropout) {
  TransformerConfig config;
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
      std::pair{"gpt-mini", language_preset(6, 384, 6, 256, 0.2f)},
      std::pair{"gpt2", language_preset(12, 768, 12, 1024, 0.1f)},
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

Index num_parameters(const TransformerConfig& config) {
  const Index d = config.model_dim, f = config.feed_forward_dim;
  const Index key_value_heads =
      config.num_key_value_heads == 0 ? config.num_heads : config.num_key_value_heads;
  const Index key_dim = d / config.num_heads * key_value_heads;
  const Index attention = 2 * (d * d + d) + 2 * (d * key_dim + key_dim);
  const Index into_hidden = config.activation == Activation::swiglu ? 2 : 1;
  const Index feed_forward = into_hidden * (d * f + f) + f * d + d;
  const Index norm = config.norm_kind == NormKind::layer ? 2 * d : d;
  const Index per_stack = (config.positions == Positions::learned ? config.max_positions * d : 0) +
                          (config.norm_place == NormPlace::before ? norm : 0);
  const Index block = attention + feed_forward + 2 * norm;
  if (kind_of(config) == ModelKind::language) {
    const Index tables = config.tying == Tying::none ? 2 : 1;
    return tables * config.vocabulary * d + per_stack + config.decoder_layers * block;
  }
  const Index tables = config.tying == Tying::all ? 1 : config.tying == Tying::target ? 2 : 3;
  return tables * config.vocabulary * d + 2 * per_stack + config.encoder_layers * block +
         config.decoder_layers * (block + attention + norm);
}

nn::BlockOptions encoder_options(const TransformerConfig& config) {
  return {.num_layers = config.encoder_layers,
          .model_dim = config.model_dim,
          .feed_forward_dim = config.feed_forward_dim,
          .num_heads = config.num_heads,
          .num_key_value_heads = config.num_key_value_heads,
          .max_positions = config.max_positions,
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
  const ordered_json json{{"model_type", name_of(kind_of(config))},
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
                          {"similarity", name_of(config.similarity)},
                          {"norm_place", name_of(config.norm_place)},
                          {"norm_kind", name_of(config.norm_kind)},
                          {"positions", name_of(config.positions)},
                          {"activation_function", name_of(config.activation)},
                          {"tied_embeddings", name_of(config.tying)},
                          {"pad_token_id", text::Tokenizer::pad},
                          {"unk_token_id", text::Tokenizer::unknown},
                          {"bos_token_id", text::Tokenizer::begin},
                          {"eos_token_id", text::Tokenizer::end},
                          {"decoder_start_token_id", text::Tokenizer::end}};
  return json.dump(2) + '\n';
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
  const auto kind =
      parse_choice<ModelKind>(fields.text("model_type"), file + ": model_type", ErrorKind::model);
  config.vocabulary = size("vocab_size");
  config.model_dim = size("d_model");
  config.encoder_layers = fields.integer("encoder_layers", {.min = 0, .max = max_layers});
  config.decoder_layers = size("decoder_layers");
  config.feed_forward_dim = size("ffn_dim");
  config.num_heads = size("attention_heads");
  config.num_key_value_heads = fields.integer_or("key_value_heads", 0, {.min = 0, .max = max_size});
  config.max_positions = fields.integer_or("max_position_embeddings", config.max_positions,
                                           {.min = 1, .max = max_size});
  config.dropout = rate("dropout");
  config.attention_dropout = rate("attention_dropout");
  config.activation_dropout = rate("activation_dropout");
  config.label_smoothing = rate("label_smoothing");
  choose("similarity", config.similarity);
  choose("norm_place", config.norm_place);
  choose("norm_kind", config.norm_kind);
  choose("positions", config.positions);
  choose("activation_function", config.activation);
  choose("tied_embeddings", config.tying);
  validate(config, file, ErrorKind::model);
  check_as(ErrorKind::model, kind_of(config) == kind, file, ": model_type: expected ",
           name_of(kind_of(config)), " for ", config.encoder_layers, " encoder layers, found ",
           name_of(kind));
  return config;
}

}  // namespace heed::models
