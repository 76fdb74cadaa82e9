#include "heed/train/recipe.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_files.h"

namespace heed::train {
namespace {

void set(Recipe& recipe, const std::string& name, std::string_view value) {
  for (const RecipeField& field : recipe_fields(recipe)) {
    if (field.name == name) return field.set(value);
  }
  FAIL() << "no field " << name;
}

std::string get(Recipe& recipe, const std::string& name) {
  for (const RecipeField& field : recipe_fields(recipe)) {
    if (field.name == name) return field.get();
  }
  return "(no such field)";
}

// A value other than the default for every field.
const std::map<std::string, std::string> other_values{{"encoder-layers", "3"},
                                                      {"decoder-layers", "2"},
                                                      {"width", "64"},
                                                      {"feed-forward", "96"},
                                                      {"heads", "2"},
                                                      {"key-value-heads", "1"},
                                                      {"max-positions", "512"},
                                                      {"dropout", "0.15"},
                                                      {"attention-dropout", "0.05"},
                                                      {"activation-dropout", "0.07"},
                                                      {"label-smoothing", "0.2"},
                                                      {"guided-alignment-weight", "0.1"},
                                                      {"similarity", "cosine"},
                                                      {"norm", "before"},
                                                      {"norm-kind", "rms"},
                                                      {"positions", "rotary"},
                                                      {"activation", "swiglu"},
                                                      {"tying", "target"},
                                                      {"pooling", "first"},
                                                      {"problem-type", "regression"},
                                                      {"image-height", "32"},
                                                      {"image-width", "16"},
                                                      {"image-channels", "3"},
                                                      {"patch-side", "8"},
                                                      {"vocabulary", "500"},
                                                      {"subwords", "unigram"},
                                                      {"optimizer", "adamw"},
                                                      {"learning-rate", "0.002"},
                                                      {"schedule", "cosine"},
                                                      {"warm-up", "77"},
                                                      {"max-warm-up-share", "0.2"},
                                                      {"betas", "0.8,0.99"},
                                                      {"epsilon", "1e-06"},
                                                      {"strict", "true"},
                                                      {"save-minutes", "2.5"},
                                                      {"weight-decay", "0.01"},
                                                      {"clip", "1.5"},
                                                      {"batch-tokens", "1024"},
                                                      {"accumulate", "3"},
                                                      {"max-length", "100"},
                                                      {"curriculum", "12"},
                                                      {"bpe-dropout", "0.1"},
                                                      {"validate-every", "50u"},
                                                      {"save-every", "2e"},
                                                      {"early-stopping", "bleu"},
                                                      {"patience", "4"},
                                                      {"average", "5"},
                                                      {"ema", "0.999"},
                                                      {"validation-metrics", "exact-match,rouge"},
                                                      {"tokenize", "none"},
                                                      {"class-weights", "balanced"},
                                                      {"shift", "3"},
                                                      {"flip", "true"},
                                                      {"fields", "en,de"},
                                                      {"header", "false"},
                                                      {"truncate-source", "50"},
                                                      {"seed", "42"},
                                                      {"freeze", "encoder,embedding"},
                                                      {"lora", "8"},
                                                      {"keep", "20"},
                                                      {"after", "3e,45.5m"}};

TEST(Recipe, EveryFieldCanBeSetAndComesBackThroughJson) {
  Recipe recipe;
  for (const RecipeField& field : recipe_fields(recipe)) {
    ASSERT_TRUE(other_values.contains(field.name)) << field.name;
    EXPECT_NE(field.get(), other_values.at(field.name)) << field.name;
    field.set(other_values.at(field.name));
  }
  Recipe back = recipe_from_json(to_json(recipe), "test");
  for (const RecipeField& field : recipe_fields(back)) {
    EXPECT_EQ(field.get(), other_values.at(field.name)) << field.name;
  }
  EXPECT_EQ(back.model, recipe.model);
  EXPECT_EQ(back.training.schedule.peak, 0.002);
  EXPECT_EQ(back.training.optimizer.beta2, 0.99);
}

TEST(Recipe, WhatTheNetworkHasFromItsBaseModelComesBackThroughJson) {
  Recipe recipe;
  EXPECT_EQ(to_json(recipe).find("inherited"), std::string::npos) << "Heed's own have none of it";
  recipe.model.family = "marian";
  recipe.model.vocabulary = 58101;
  recipe.model.tokens = {.pad = 58100,
                         .unknown = text::SpecialTokens::none,
                         .begin = text::SpecialTokens::none,
                         .ends = {0, 2},
                         .decoder_start = 58100};
  recipe.model.embedding_scale = 1.5f;
  recipe.model.has_final_norm = false;
  recipe.model.windows = {0, 5};
  recipe.model.rotary.base = 5e5;
  EXPECT_EQ(recipe_from_json(to_json(recipe), "test").model, recipe.model);

  Recipe other = recipe;
  other.model.tokens.pad = 3;
  try {
    check_same_recipe(recipe, other);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "`pad_token_id`: expected 58100, with which this run was started, found 3");
  }
}

TEST(Recipe, FieldsThatAnOlderRunWroteOutByDefaultAreRecognised) {
  EXPECT_EQ(recipe_from_json(R"({"fields": "source,target"})", "test").training.fields, "");
  EXPECT_EQ(recipe_from_json(R"({"fields": "en,de"})", "test").training.fields, "en,de");
  EXPECT_EQ(
      recipe_from_json(R"({"fields": "source,target", "header": ""})", "test").training.fields,
      "source,target");
}

TEST(Recipe, SourcesAreTruncatedWithinTheMaximumLengthAndWhereThereAreSources) {
  Recipe recipe = recipe_preset("tiny");
  recipe.model.truncate_source = recipe.training.max_length;
  EXPECT_NO_THROW(validate(recipe));
  for (const Index tokens : {Index{1}, recipe.training.max_length + 1}) {
    recipe.model.truncate_source = tokens;
    EXPECT_THROW(validate(recipe), Error) << tokens;
  }
  Recipe language = recipe_preset("gpt-mini");
  language.model.kind = models::ModelKind::language;
  language.model.truncate_source = 10;
  EXPECT_THROW(validate(language), Error);
}

TEST(Recipe, ASettingThatIsNewerThanTheRunHasItsDefault) {
  Recipe recipe;
  std::string json = to_json(recipe);
  const std::string setting = "\"bpe-dropout\":\"0\",";
  ASSERT_NE(json.find(setting), std::string::npos) << json;
  json.erase(json.find(setting), setting.size());
  EXPECT_EQ(recipe_from_json(json, "test").training.bpe_dropout, 0);
}

TEST(Recipe, ARunWithoutBleuOfAnOlderVersionHasNoScores) {
  std::string json = to_json(Recipe());
  const std::string setting = "\"validation-metrics\":\"bleu\"";
  ASSERT_NE(json.find(setting), std::string::npos) << json;
  json.replace(json.find(setting), setting.size(), "\"validation-bleu\":\"false\"");
  EXPECT_EQ(recipe_from_json(json, "test").training.validation_metrics, "none");
  json.replace(json.find("\"validation-bleu\":\"false\""), 25, "\"validation-bleu\":\"true\"");
  EXPECT_EQ(recipe_from_json(json, "test").training.validation_metrics, "bleu");
}

TEST(Recipe, PresetsAreValid) {
  for (const char* name : {"tiny", "small", "base", "demo", "char", "gpt-mini", "gpt2", "prompts",
                           "classes", "masked", "images", "tags"}) {
    EXPECT_NO_THROW(validate(recipe_preset(name))) << name;
  }
  EXPECT_THROW(recipe_preset("huge"), Error);
}

TEST(Recipe, RefusesBadValuesAndNamesTheSetting) {
  const std::multimap<std::string, std::string> bad{{"width", "0"},
                                                    {"width", "12x"},
                                                    {"width", ""},
                                                    {"dropout", "1"},
                                                    {"dropout", "nan"},
                                                    {"norm", "middle"},
                                                    {"betas", "0.9"},
                                                    {"betas", "0.9,1"},
                                                    {"accumulate", "-1"},
                                                    {"after", "soon"},
                                                    {"save-every", "10m"},
                                                    {"validation-metrics", "bleu,luck"},
                                                    {"validation-metrics", "bleu,bleu"},
                                                    {"validation-metrics", ""},
                                                    {"learning-rate", ""},
                                                    {"subwords", "BPE"},
                                                    {"early-stopping", ""},
                                                    {"seed", "-1"},
                                                    {"ema", "1"},
                                                    {"batch-tokens", "1"},
                                                    {"bpe-dropout", "1"},
                                                    {"bpe-dropout", "-0.1"},
                                                    {"fields", "en"},
                                                    {"problem-type", "numbers"},
                                                    {"shift", "-1"},
                                                    {"shift", "8193"},
                                                    {"flip", "perhaps"},
                                                    {"image-channels", "4"},
                                                    {"epsilon", "0"},
                                                    {"epsilon", "1e-50"},
                                                    {"save-minutes", "-1"}};
  for (const auto& [name, value] : bad) {
    Recipe recipe;
    try {
      set(recipe, name, value);
      ADD_FAILURE() << name << " took " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).rfind(quote(name) + ": expected ", 0), 0u)
          << error.what();
    }
  }
}

TEST(Recipe, ValuesOutOfRangeAreRefusedHoweverTheyWereSet) {
  TrainingOptions options;
  EXPECT_NO_THROW(validate(options));
  options.batch_tokens = 1;
  try {
    validate(options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "`batch_tokens`: expected a whole number of at least 2, found 1");
  }
}

TEST(Recipe, FieldsAreSetByNameAndByAlias) {
  Recipe recipe;
  set_fields(recipe, {{"lr", "0.25"}, {"warm-up", "7"}});
  EXPECT_EQ(recipe.training.schedule.peak, 0.25);
  EXPECT_EQ(recipe.training.schedule.warm_up, 7);
  EXPECT_THROW(set_fields(recipe, {{"luck", "1"}}), Error);
  EXPECT_THROW(set_fields(recipe, {{"", "1"}}), Error);
}

TEST(Recipe, APresetForAnotherProblemSmoothsNoLabelsUnlessAskedTo) {
  const auto smoothing = [](const Settings& settings) {
    Recipe recipe = recipe_preset("classes");
    customize(recipe, settings);
    return recipe.model.label_smoothing;
  };
  EXPECT_EQ(smoothing({}), 0.1f);
  EXPECT_EQ(smoothing({{"problem-type", "regression"}}), 0);
  EXPECT_EQ(smoothing({{"problem", "multi_label_classification"}}), 0);
  EXPECT_EQ(smoothing({{"problem", "multi_label_classification"}, {"label-smoothing", "0.2"}}),
            0.2f);
}

TEST(Recipe, KnowsTheNamesThatOtherToolsHaveForItsSettings) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> settings{
      {"warm-up", {"warmup-steps", "warmup", "lr-warmup", "warmup-updates"}},
      {"vocabulary", {"vocab-size"}},
      {"width", {"d-model", "dim", "dim-model"}},
      {"accumulate", {"update-freq", "gradient-accumulation-steps"}},
      {"clip", {"clip-norm", "max-grad-norm"}},
      {"shift", {"crop"}}};
  for (const auto& [name, aliases] : settings) {
    Recipe by_name;
    set_fields(by_name, {{name, "7"}});
    for (const std::string& alias : aliases) {
      Recipe recipe;
      set_fields(recipe, {{alias, "7"}});
      EXPECT_EQ(to_json(recipe), to_json(by_name)) << alias;
      EXPECT_NE(to_json(recipe), to_json(Recipe{})) << alias;
    }
  }
}

TEST(Recipe, NamesAndAliasesAreUniqueAndEveryFieldHasAGroup) {
  Recipe recipe;
  std::set<std::string> names;
  for (const RecipeField& field : recipe_fields(recipe)) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    for (const std::string& name : field.other_names) {
      EXPECT_FALSE(name.empty()) << field.name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
    EXPECT_FALSE(field.group.empty()) << field.name;
  }
}

TEST(Recipe, RefusesSettingsThatDoNotGoTogether) {
  const std::vector<std::vector<std::pair<std::string, std::string>>> bad{
      {{"heads", "3"}},
      {{"bpe-dropout", "0.1"}, {"subwords", "unigram"}},
      {{"batch-tokens", "100"}},
      {{"positions", "learned"}, {"max-positions", "100"}},
      {{"average", "5"}, {"ema", "0.9"}},
      {{"keep", "5"}, {"lora", "2"}},
      {{"flip", "true"}}};  // text
  for (const auto& settings : bad) {
    Recipe recipe;
    for (const auto& [name, value] : settings) set(recipe, name, value);
    EXPECT_THROW(validate(recipe), Error) << settings.front().first;
  }
}

TEST(Recipe, ARateThatFallsToZeroNeedsAnEndOfAnyKind) {
  for (const char* kind : {"cosine", "linear"}) {
    Recipe recipe;
    set(recipe, "schedule", kind);
    for (const char* after : {"10m", "3e", "100u"}) {
      set(recipe, "after", after);
      EXPECT_NO_THROW(validate(recipe)) << kind << ' ' << after;
    }
    recipe.training.after = {};
    EXPECT_THROW(validate(recipe), Error) << kind;
  }
}

TEST(Recipe, ARunIsResumedWithTheSameSettingsOnly) {
  const std::set<std::string> may_differ{"after", "fields",       "header",
                                         "keep",  "save-minutes", "strict"};
  for (const auto& [name, value] : other_values) {
    Recipe saved, asked;
    set(asked, name, value);
    if (may_differ.contains(name)) {
      EXPECT_NO_THROW(check_same_recipe(saved, asked));
      continue;
    }
    try {
      check_same_recipe(saved, asked);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()), quote(name) + ": expected " + get(saved, name) +
                                               ", with which this run was started, found " + value);
    }
  }
}

}  // namespace
}  // namespace heed::train
