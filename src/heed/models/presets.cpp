#include "heed/models/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

namespace heed::models {
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

// For short prompts and answers in subwords.
TransformerConfig prompts_preset() {
  TransformerConfig config = language_preset(4, 192, 6, 256, 0.1f);
  config.positions = Positions::rotary;
  config.activation = Activation::swiglu;
  config.feed_forward_dim = 512;
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

// For short lines. All kinds have the same sizes, so that a classifier or a tagger can be
// initialised from a masked model.
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

// Finds one fact among others of the same form, as questions about a story need it.
TransformerConfig answers_preset() {
  TransformerConfig config = translation_preset(2, 128, 256, 4, 0);
  config.norm_place = NormPlace::before;
  config.positions = Positions::rotary;
  config.label_smoothing = 0;
  return config;
}

const auto& presets() {
  static const std::array all{
      std::pair{"tiny", translation_preset(4, 128, 256, 4, 0.3f)},
      std::pair{"small", translation_preset(6, 256, 1024, 4, 0.1f)},
      std::pair{"base", translation_preset(6, 512, 2048, 8, 0.1f)},
      std::pair{"demo", demo_preset()},
      std::pair{"answers", answers_preset()},
      std::pair{"char", language_preset(4, 128, 4, 64, 0)},
      std::pair{"gpt-mini", gpt_mini_preset()},
      std::pair{"gpt2", language_preset(12, 768, 12, 1024, 0.1f)},
      std::pair{"prompts", prompts_preset()},
      std::pair{"classes", encoder_preset(ModelKind::classifier, 0.3f, 0.1f)},
      std::pair{"masked", encoder_preset(ModelKind::masked, 0.1f, 0)},
      std::pair{"images", image_preset()},
      std::pair{"tags", encoder_preset(ModelKind::tagger, 0.3f, 0.1f)},
  };
  return all;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& [name, config] : presets()) names.emplace_back(name);
  return names;
}

TransformerConfig transformer_preset(std::string_view name) {
  for (const auto& [its_name, config] : presets()) {
    if (name == its_name) return config;
  }
  fail(ErrorKind::usage, "preset: expected one of ",
       fmt::format("{}", fmt::join(preset_names(), ", ")), ", found ", name);
}

TransformerConfig translation_config(Index vocabulary) {
  TransformerConfig config = transformer_preset("tiny");
  config.vocabulary = vocabulary;
  return config;
}

TransformerConfig language_config(Index vocabulary) {
  TransformerConfig config = transformer_preset("gpt-mini");
  config.vocabulary = vocabulary;
  return config;
}

TransformerConfig classifier_config(Index vocabulary, std::vector<std::string> labels) {
  TransformerConfig config = transformer_preset("classes");
  config.vocabulary = vocabulary;
  config.labels = std::move(labels);
  return config;
}

TransformerConfig masked_config(Index vocabulary) {
  TransformerConfig config = transformer_preset("masked");
  config.vocabulary = vocabulary;
  return config;
}

TransformerConfig image_classifier_config(std::vector<std::string> labels) {
  TransformerConfig config = transformer_preset("images");
  config.labels = std::move(labels);
  return config;
}

TransformerConfig tagger_config(Index vocabulary, std::vector<std::string> labels) {
  TransformerConfig config = transformer_preset("tags");
  config.vocabulary = vocabulary;
  config.labels = std::move(labels);
  return config;
}

}  // namespace heed::models
