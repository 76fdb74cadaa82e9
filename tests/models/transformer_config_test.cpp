#include "heed/models/transformer_config.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/presets.h"
#include "heed/models/translation_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"

namespace heed::models {
namespace {

TEST(TransformerConfig, PresetsHaveTheirSizes) {
  const auto sizes = [](std::string_view name) {
    const TransformerConfig c = transformer_preset(name);
    EXPECT_EQ(c.encoder_layers, c.decoder_layers);
    return std::vector<Index>{c.encoder_layers, c.model_dim, c.feed_forward_dim, c.num_heads};
  };
  EXPECT_EQ(sizes("tiny"), (std::vector<Index>{4, 128, 256, 4}));
  EXPECT_EQ(sizes("small"), (std::vector<Index>{6, 256, 1024, 4}));
  EXPECT_EQ(sizes("base"), (std::vector<Index>{6, 512, 2048, 8}));
  EXPECT_EQ(transformer_preset("tiny").dropout, 0.3f);
  EXPECT_EQ(transformer_preset("base").dropout, 0.1f);
  expect_error(ErrorKind::usage,
               "preset: expected one of tiny, small, base, demo, answers, char, gpt-mini, gpt2, "
               "prompts, classes, masked, images, tags, found huge",
               [] { transformer_preset("huge"); });
}

TEST(TransformerConfig, PresetsOfLanguageModelsHaveTheirSizes) {
  const auto sizes = [](const char* name) {
    const TransformerConfig c = transformer_preset(name);
    EXPECT_EQ(c.kind, ModelKind::language);
    EXPECT_EQ(c.norm_place, NormPlace::before);
    return std::vector<Index>{c.decoder_layers, c.model_dim, c.num_heads, c.max_positions};
  };
  EXPECT_EQ(sizes("char"), (std::vector<Index>{4, 128, 4, 64}));
  EXPECT_EQ(sizes("gpt-mini"), (std::vector<Index>{6, 384, 6, 256}));
  EXPECT_EQ(sizes("gpt2"), (std::vector<Index>{12, 768, 12, 1024}));
  EXPECT_EQ(sizes("prompts"), (std::vector<Index>{4, 192, 6, 256}));
  EXPECT_EQ(transformer_preset("gpt-mini").positions, Positions::rotary);
  EXPECT_EQ(transformer_preset("gpt2").positions, Positions::learned);
}

TEST(TransformerConfig, EveryPresetCanBeBuilt) {
  for (const char* name : {"tiny", "small", "base", "demo", "char", "gpt-mini", "gpt2", "prompts",
                           "classes", "masked", "images", "tags"}) {
    TransformerConfig config = transformer_preset(name);
    config.vocabulary = 100;
    EXPECT_NO_THROW(validate(config)) << name;
  }
}

TEST(TransformerConfig, OfOneLabelPerTextIsWrittenAsBeforeThereWereOthers) {
  TransformerConfig config = classifier_config(50, {"cold", "warm"});
  EXPECT_EQ(to_json(config).find("problem_type"), std::string::npos);
  EXPECT_EQ(to_json(config).find("text_pairs"), std::string::npos);
  config.problem_type = ProblemType::multi_label;
  EXPECT_NE(to_json(config).find("\"problem_type\": \"multi_label_classification\""),
            std::string::npos);
}

TEST(TransformerConfig, RefusesProblemsThatItsKindDoesNotHave) {
  TransformerConfig config = image_classifier_config({"cold", "warm"});
  config.problem_type = ProblemType::multi_label;
  expect_error(ErrorKind::usage,
               "model: expected the problem type single_label_classification for "
               "heed-image-classifier, found multi_label_classification",
               [&] { validate(config); });
  config = classifier_config(50, {"score"});
  config.problem_type = ProblemType::regression;
  expect_error(ErrorKind::usage, "model: expected no label smoothing for regression, found 0.1",
               [&] { validate(config); });
}

TEST(TransformerConfig, ComesBackFromJsonAsItWas) {
  std::vector<TransformerConfig> configs = small_configs();
  for (const ModelKind kind :
       {ModelKind::language, ModelKind::classifier, ModelKind::masked, ModelKind::tagger}) {
    configs.push_back(small_config(kind));
  }
  for (const TransformerConfig& config : configs) {
    EXPECT_EQ(transformer_config_from_json(to_json(config), "config.json"), config);
  }
}

TEST(TransformerConfig, ATaggerTellsItsLabelsAndHasNoPooling) {
  const std::string json = to_json(small_config(ModelKind::tagger));
  EXPECT_NE(json.find("\"model_type\": \"heed-tagger\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"labels\""), std::string::npos) << json;
  EXPECT_EQ(json.find("pooling"), std::string::npos) << json;
}

TEST(TransformerConfig, OnlyAClassifierTellsItsLabelsAndItsPooling) {
  EXPECT_EQ(to_json(small_config(ModelKind::masked)).find("labels"), std::string::npos);
  const std::string json = to_json(small_config(ModelKind::classifier));
  EXPECT_NE(json.find("\"model_type\": \"heed-classifier\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"pooling\": \"mean\""), std::string::npos) << json;
}

TEST(TransformerConfig, JsonHoldsRatesAsTheyWereWritten) {
  const std::string json = to_json(small_config());
  EXPECT_NE(json.find("\"dropout\": 0.3,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"model_type\": \"heed-translation\""), std::string::npos);
  EXPECT_NE(json.find("\"d_model\": 16,"), std::string::npos);
}

void expect_refused(const std::string& field, const std::string& value, const std::string& message,
                    ModelKind kind = ModelKind::translation) {
  std::string json = to_json(small_config(kind));
  const std::size_t begin = json.find('"' + field + "\": ") + field.size() + 4;
  const char* end = json[begin] == '[' ? "]" : ",\n";
  const std::size_t length = json.find_first_of(end, begin) - begin + (json[begin] == '[' ? 1 : 0);
  json.replace(begin, length, value);
  expect_error(ErrorKind::model, message,
               [&] { transformer_config_from_json(json, "config.json"); });
}

TEST(TransformerConfig, JsonWithAMistakeIsRefusedByTheNameOfTheField) {
  expect_refused("d_model", "\"wide\"",
                 "config.json: d_model: expected an integer from 1 to 16777216, found \"wide\"");
  expect_refused("norm_place", "\"up\"",
                 "config.json: norm_place: expected one of before, after, around, found up");
  expect_refused("weights", "\"int3\"",
                 "config.json: weights: expected one of f32, f16, bf16, int8, int4, found int3");
  expect_refused("attention_heads", "3",
                 "config.json: expected heads that divide the width 16, found 3");
  expect_refused("dropout", "1",
                 "config.json: expected dropout of at least 0 and below 1, found 1");
  expect_refused("model_type", "\"marian\"",
                 "config.json: model_type: expected one of heed-translation, heed-language, "
                 "heed-classifier, heed-masked, heed-image-classifier, heed-tagger, heed-encoder, "
                 "found marian");
  expect_refused("model_type", "\"heed-masked\"",
                 "config.json: expected no decoder layers for heed-masked, found 2");
  expect_refused("encoder_layers", "0",
                 "config.json: expected encoder layers of at least 1, found 0");
  expect_refused("labels", "[]", "config.json: labels: expected the names of classes, found none",
                 ModelKind::classifier);
  expect_refused("labels", "[\"warm\", \"a\\nb\"]",
                 "config.json: expected a label on one line, without control characters, found "
                 "\"a\\nb\"",
                 ModelKind::classifier);
  expect_refused("labels", "[\"warm\", \"warm\"]",
                 "config.json: expected labels that differ, found warm twice",
                 ModelKind::classifier);
}

TEST(TransformerConfig, RefusesWhatCannotBeBuilt) {
  const auto refused = [](auto change, const std::string& message) {
    TransformerConfig config = small_config();
    change(config);
    expect_error(ErrorKind::usage, message, [&] { validate(config); });
  };
  refused([](auto& c) { c.vocabulary = 0; }, "model: expected a vocabulary of at least 1, found 0");
  refused([](auto& c) { c.decoder_layers = -1; },
          "model: expected decoder layers from 0 to 1024, found -1");
  refused([](auto& c) { c.num_key_value_heads = 3; },
          "model: expected key/value heads that divide the 2 heads, found 3");
  refused([](auto& c) { c.label_smoothing = -0.5f; },
          "model: expected label smoothing of at least 0 and below 1, found -0.5");
  refused(
      [](auto& c) {
        c.positions = Positions::rotary;
        c.num_heads = 16;
      },
      "model: expected heads of an even width for rotary positions, found 1");
}

template <typename Model>
void expect_counted(const TransformerConfig& config) {
  Model model(config, 1);
  Index count = 0;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    count += parameter.value.size();
  }
  EXPECT_EQ(num_parameters(config), count) << to_json(config);
}

TEST(TransformerConfig, CountsTheParametersThatAModelHas) {
  for (TransformerConfig config : small_configs()) {
    expect_counted<TranslationModel>(config);
    config.kind = ModelKind::language;
    config.encoder_layers = 0;
    expect_counted<LanguageModel>(config);
    config.kind = ModelKind::masked;
    std::swap(config.encoder_layers, config.decoder_layers);
    expect_counted<MaskedModel>(config);
    config.kind = ModelKind::classifier;
    config.labels = {"cold", "mild", "warm"};
    for (const Choice<Pooling>& pooling : choices<Pooling>()) {
      config.pooling = pooling.value;
      expect_counted<Classifier>(config);
    }
  }
}

TEST(Choices, AreListedInTheMessageForAnUnknownName) {
  EXPECT_EQ(parse_choice<Positions>("alibi", "--positions"), Positions::alibi);
  EXPECT_EQ(name_of(ops::Similarity::scaled_dot), "scaled-dot");
  expect_error(ErrorKind::usage, "--tying: expected one of none, target, all, inputs, found both",
               [] { parse_choice<Tying>("both", "--tying"); });
}

}  // namespace
}  // namespace heed::models
