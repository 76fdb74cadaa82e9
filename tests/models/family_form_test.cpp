#include "heed/models/family_form.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "heed/base/random.h"
#include "heed/io/files.h"
#include "heed/models/convert_weights.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/presets.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

text::Tokenizer letters() {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  return text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
}

TransformerConfig preset(const std::string& name) {
  TransformerConfig config = transformer_preset(name);
  config.vocabulary = has_text(config.kind) ? 20 : 0;
  if (has_classes(config.kind)) config.labels = {"cold", "warm"};
  return config;
}

// The family of a preset, or the settings that have no place in the nearest one.
std::string family_or_settings(const std::string& name) {
  try {
    return family_form(preset(name)).family;
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::size_t place = message.find("found some that ");
    return place == message.npos ? message : message.substr(place + 16);
  }
}

const std::string no_embedding_norm = "embedding_norm false (it has true)";

TEST(FamilyForm, TellsForEveryPresetWhichFamilyItFitsOrWhatHasNoPlace) {
  const std::string llama_layer_norm =
      "llama, the nearest, has no place for: norm-kind \"layer\" (it has \"rms\")";
  const std::map<std::string, std::string> expected{
      {"tiny", "marian"},
      {"small", "marian"},
      {"base", "marian"},
      {"demo", "marian, the nearest, has no place for: norm \"before\" (it has \"after\")"},
      {"answers",
       "marian, the nearest, has no place for: norm \"before\" (it has \"after\"), positions "
       "\"rotary\" (it has \"sinusoidal\")"},
      {"char", "gpt2"},
      {"gpt-mini", llama_layer_norm},
      {"gpt2", "gpt2"},
      {"prompts", llama_layer_norm},
      {"images",
       "vit, the nearest, has no place for: pooling \"mean\" (it has \"first\"), class_token false "
       "(it has true)"}};
  for (const std::string& name : preset_names()) {
    const std::string found = family_or_settings(name);
    const auto known = expected.find(name);
    if (known != expected.end()) {
      EXPECT_EQ(found, known->second) << name;
    } else {  // encoders
      EXPECT_NE(found.find(", the nearest, has no place for: "), found.npos) << name << found;
      EXPECT_NE(found.find(no_embedding_norm), found.npos) << name << found;
    }
  }
}

// Parameters that are not 0 or 1, so that none can hide.
template <typename Model>
Model shaken(const TransformerConfig& config) {
  Model model(config, 5);
  Rng rng(6);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) {
      value += 0.1f * static_cast<float>(rng.normal());
    }
  }
  return model;
}

void expect_near(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  float most = 0, largest = 0;
  for (Index i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
    largest = std::max(largest, std::abs(a.data()[i]));
  }
  EXPECT_LT(most, 1e-5f * std::max(largest, 1.0f)) << what;
}

Tensor all_logits(const LanguageModel& model) {
  auto context = nn::ForwardContext::inference();
  const PackedIds ids{{4, 9, 7, 5, 6, 9, 4}, Spans::single(7)};
  return model.logits(model.hidden(ids, context));
}

Tensor all_logits(const TranslationModel& model) {
  return all_logits(model, sample_sentences({4, 7}), sample_sentences({6, 5}, 2));
}

// Heed's folder, the family's, and the logits of what was read from each.
template <typename Model>
void expect_same_logits(TransformerConfig config, const std::string& family,
                        const std::string& what) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  config.vocabulary = tokenizer.size();
  const auto model = shaken<Model>(config);
  save_model_folder(folder.file("own"), model, tokenizer, {.beam_size = 3});
  convert_to_family(folder.file("own"), folder.file("hf"), WeightFormat::f32);
  EXPECT_EQ(load_config(folder.file("hf")).family, family) << what;
  const auto loaded = load_model_folder<Model>(folder.file("hf"));
  expect_near(all_logits(model), all_logits(loaded.model), what);
  EXPECT_EQ(loaded.tokenizer.encode("abcde jot"), tokenizer.encode("abcde jot")) << what;
  EXPECT_FALSE(loaded.tokenizer.is_own());
}

TransformerConfig small_language() { return small_config(ModelKind::language); }

TEST(FamilyForm, ATranslatorIsTheSameFunctionAsMarian) {
  for (const Tying tying : {Tying::all, Tying::target, Tying::none}) {
    for (const Activation activation : {Activation::relu, Activation::gelu}) {
      TransformerConfig config = small_config();
      config.tying = tying;
      config.activation = activation;
      expect_same_logits<TranslationModel>(config, "marian", std::string(name_of(tying)));
    }
  }
}

TEST(FamilyForm, ALanguageModelIsTheSameFunctionAsGpt2) {
  for (const Positions positions : {Positions::learned, Positions::sinusoidal, Positions::none}) {
    for (const Tying tying : {Tying::all, Tying::none}) {
      TransformerConfig config = small_language();
      config.norm_place = NormPlace::before;
      config.positions = positions;
      config.activation = Activation::gelu_tanh;
      config.tying = tying;
      expect_same_logits<LanguageModel>(config, "gpt2", std::string(name_of(positions)));
    }
  }
}

TEST(FamilyForm, ALanguageModelIsTheSameFunctionAsLlama) {
  for (const Index num_key_value_heads : {0, 1}) {
    TransformerConfig config = small_language();
    config.norm_place = NormPlace::before;
    config.norm_kind = NormKind::rms;
    config.positions = Positions::rotary;
    config.activation = Activation::swiglu;
    config.num_key_value_heads = num_key_value_heads;
    expect_same_logits<LanguageModel>(config, "llama", std::to_string(num_key_value_heads));
  }
}

TEST(FamilyForm, ALanguageModelIsTheSameFunctionAsGptNeox) {
  TransformerConfig config = small_language();
  config.norm_place = NormPlace::before;
  config.positions = Positions::rotary;
  config.activation = Activation::gelu;
  expect_same_logits<LanguageModel>(config, "gpt_neox", "");
}

TEST(FamilyForm, WritesWhatASearchNeedsToKnow) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = small_config();
  config.vocabulary = tokenizer.size();
  const GenerationConfig own{.beam_size = 3, .length_penalty = 0.6};
  save_model_folder(folder.file("own"), TranslationModel(config, 1), tokenizer, own);
  convert_to_family(folder.file("own"), folder.file("hf"), WeightFormat::f16);
  const GenerationConfig generation = load_generation_config(folder.file("hf"));
  EXPECT_EQ(generation.beam_size, 3);
  EXPECT_EQ(generation.length_penalty, 0.6);
  EXPECT_EQ(generation.max_length, 512);
  EXPECT_EQ(generation.token_rules.bad_words, (std::vector<std::vector<int>>{{0}, {1}, {2}}));
  const TransformerConfig read = load_config(folder.file("hf"));
  EXPECT_EQ(read.tokens.pad, 0);
  EXPECT_EQ(read.tokens.ends, std::vector<int>{3});
  EXPECT_EQ(read.tokens.decoder_start, 3);
}

TEST(FamilyForm, WritesAllFilesOrNone) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = small_config();
  config.vocabulary = tokenizer.size();
  save_model_folder(folder.file("own"), TranslationModel(config, 1), tokenizer);
  config.positions = Positions::rotary;
  save_model_folder(folder.file("rotary"), TranslationModel(config, 1), tokenizer);
  const std::string to = folder.file("new/hf");
  EXPECT_THROW(convert_to_family(folder.file("rotary"), to, WeightFormat::f32), Error);
  expect_error(ErrorKind::usage,
               "`weights`: expected f32, f16 or bf16 for other programs' layouts, found int8",
               [&] { convert_to_family(folder.file("own"), to, WeightFormat::int8); });
  {
    const FullDisk disk(std::filesystem::file_size(folder.file("own/model.safetensors")) / 4);
    EXPECT_THROW(convert_to_family(folder.file("own"), to, WeightFormat::f32), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
  convert_to_family(folder.file("own"), to, WeightFormat::f32);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(to), {}), 7);
}

}  // namespace
}  // namespace heed::models
