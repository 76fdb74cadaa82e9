#include "heed/models/transformer_config.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/models/translation_model.h"
#include "io/expect_error.h"
#include "models/small_models.h"

namespace heed::models {
namespace {

using io::expect_error;

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
  expect_error(ErrorKind::usage, "preset: expected one of tiny, small, base, demo, found huge",
               [] { transformer_preset("huge"); });
}

TEST(TransformerConfig, EveryPresetCanBeBuilt) {
  for (const char* name : {"tiny", "small", "base", "demo"}) {
    TransformerConfig config = transformer_preset(name);
    config.vocabulary = 100;
    EXPECT_NO_THROW(validate(config)) << name;
  }
}

TEST(TransformerConfig, ComesBackFromJsonAsItWas) {
  for (const TransformerConfig& config : small_configs()) {
    EXPECT_EQ(transformer_config_from_json(to_json(config), "config.json"), config);
  }
}

TEST(TransformerConfig, JsonHoldsRatesAsTheyWereWritten) {
  const std::string json = to_json(small_config());
  EXPECT_NE(json.find("\"dropout\": 0.3,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"model_type\": \"heed-translation\""), std::string::npos);
  EXPECT_NE(json.find("\"d_model\": 16,"), std::string::npos);
}

void expect_refused(const std::string& field, const std::string& value,
                    const std::string& message) {
  std::string json = to_json(small_config());
  const std::size_t begin = json.find('"' + field + "\": ") + field.size() + 4;
  json.replace(begin, json.find_first_of(",\n", begin) - begin, value);
  expect_error(ErrorKind::model, message,
               [&] { transformer_config_from_json(json, "config.json"); });
}

TEST(TransformerConfig, JsonWithAMistakeIsRefusedByTheNameOfTheField) {
  expect_refused("d_model", "\"wide\"",
                 "config.json: d_model: expected an integer from 1 to 16777216, found \"wide\"");
  expect_refused("norm_place", "\"up\"",
                 "config.json: norm_place: expected one of before, after, found up");
  expect_refused("attention_heads", "3",
                 "config.json: expected heads that divide the width 16, found 3");
  expect_refused("dropout", "1",
                 "config.json: expected dropout of at least 0 and below 1, found 1");
  expect_refused(
      "model_type", "\"marian\"",
      "config.json: model_type: expected one of heed-translation, heed-language, found marian");
}

TEST(TransformerConfig, RefusesWhatCannotBeBuilt) {
  const auto refused = [](auto change, const std::string& message) {
    TransformerConfig config = small_config();
    change(config);
    expect_error(ErrorKind::usage, message, [&] { validate(config); });
  };
  refused([](auto& c) { c.vocabulary = 0; },
          "model: expected a vocabulary from 1 to 16777216, found 0");
  refused([](auto& c) { c.decoder_layers = -1; },
          "model: expected decoder layers from 1 to 1024, found -1");
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

TEST(TransformerConfig, CountsTheParametersThatAModelHas) {
  for (const TransformerConfig& config : small_configs()) {
    TranslationModel model(config, 1);
    Index count = 0;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      count += parameter.value.size();
    }
    EXPECT_EQ(num_parameters(config), count) << to_json(config);
  }
}

TEST(Choices, AreListedInTheMessageForAnUnknownName) {
  EXPECT_EQ(parse_choice<Positions>("alibi", "--positions"), Positions::alibi);
  EXPECT_EQ(name_of(ops::Similarity::scaled_dot), "scaled-dot");
  expect_error(ErrorKind::usage, "--tying: expected one of none, target, all, found both",
               [] { parse_choice<Tying>("both", "--tying"); });
}

}  // namespace
}  // namespace heed::models
