#include "heed/models/config_fields.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/models/model_kinds.h"
#include "heed/models/presets.h"
#include "heed/nn/module.h"
#include "heed/train/recipe.h"
#include "heed/train/recipe_fields.h"
#include "models/small_models.h"

namespace heed::models {
namespace {

struct AnyValue {
  template <typename Value>
  operator Value() const {
    return Value();  // is never called: only the type counts
  }
};

// The number of members of a struct: as many as it can be initialised from.
template <typename Struct, typename... Values>
consteval std::size_t num_members() {
  if constexpr (requires { Struct{Values{}..., AnyValue{}}; }) {
    return num_members<Struct, Values..., AnyValue>();
  } else {
    return sizeof...(Values);
  }
}

TEST(ConfigFields, HaveARowForEveryMemberOfTheConfiguration) {
  // Two members are structs, whose members have the rows.
  constexpr auto expected = num_members<TransformerConfig>() - 2 +
                            num_members<ops::RotaryFrequencies>() +
                            num_members<text::SpecialTokens>();
  EXPECT_EQ(config_fields().size(), expected);
}

TEST(ConfigFields, HaveNamesOfTheirOwn) {
  std::set<std::string_view> keys, options;
  for (const ConfigField& field : config_fields()) {
    EXPECT_TRUE(keys.insert(field.json).second) << field.json;
    std::vector<std::string_view> names(field.aliases.begin(), field.aliases.end());
    names.push_back(field.option);
    for (const std::string_view name : names) {
      if (!name.empty()) {
        EXPECT_TRUE(options.insert(name).second) << name;
      }
    }
    EXPECT_EQ(field.option.empty(), field.description.empty()) << field.json;
    EXPECT_EQ(field.option.empty(), field.group.empty()) << field.json;
  }
}

// Values to try in place of `value`. Not all are valid, as settings depend on each other.
std::vector<Index> other_values(Index value) { return {2 * value, value / 2, value + 1, 1, 3}; }
std::vector<bool> other_values(bool value) { return {!value}; }
std::vector<float> other_values(float) { return {0.25f}; }
std::vector<double> other_values(double) { return {0.25}; }
std::vector<std::string> other_values(const std::string&) { return {"llama"}; }
std::vector<int> other_values(int) { return {7, text::SpecialTokens::none}; }
template <typename Number>
std::vector<std::optional<Number>> other_values(const std::optional<Number>&) {
  return {Number{1}};
}
template <typename Number>
std::vector<std::vector<Number>> other_values(const std::vector<Number>&) {
  return {{2}, {3, 4}};
}
std::vector<std::vector<std::string>> other_values(const std::vector<std::string>&) {
  return {{"green", "red"}};
}
template <typename Value>
requires std::is_enum_v<Value> std::vector<Value> other_values(Value) {
  std::vector<Value> values;
  for (const Choice<Value>& choice : choices<Value>()) values.push_back(choice.value);
  return values;
}

bool is_valid(const TransformerConfig& config) {
  try {
    validate(config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Valid configurations with a value of the field that is not its default: one that is lost on the
// way cannot come back by itself.
std::vector<TransformerConfig> variants_of(const TransformerConfig& config,
                                           const ConfigField& field) {
  std::vector<TransformerConfig> variants;
  std::visit(
      [&](auto member) {
        for (const auto& value : other_values(value_of(config, member))) {
          TransformerConfig variant = config;
          member(variant) = value;
          const bool is_default = value == value_of(TransformerConfig{}, member);
          if (!is_default && is_valid(variant)) variants.push_back(variant);
        }
      },
      field.member);
  return variants;
}

// Calls body(variant, field) for the variants of every field and kind of model. The kind itself is
// no field here: it decides which fields there are.
template <typename Body>
void for_variants(const Body& body) {
  for (const Choice<ModelKind>& kind : choices<ModelKind>()) {
    TransformerConfig config = small_config(kind.value);
    if (has_classes(kind.value)) config.labels = {"cold", "warm"};
    config.norm_place = NormPlace::before;  // as parallel blocks have them
    // A source with a vocabulary of its own has embeddings of its own.
    if (kind.value == ModelKind::translation) config.tying = Tying::target;
    for (const ConfigField& field : config_fields()) {
      if (field.json == "model_type" || !field.exists(kind.value)) continue;
      SCOPED_TRACE(std::string(kind.name) + " " + std::string(field.json));
      for (const TransformerConfig& variant : variants_of(config, field)) body(variant, field);
    }
  }
}

TEST(ConfigFields, AreKeptByConfigJsonWhateverTheirValue) {
  std::set<std::string_view> fields{"model_type"};
  for_variants([&](const TransformerConfig& variant, const ConfigField& field) {
    fields.insert(field.json);
    EXPECT_EQ(transformer_config_from_json(to_json(variant), "config.json"), variant)
        << to_json(variant);
  });
  for (const ConfigField& field : config_fields()) {
    EXPECT_TRUE(fields.contains(field.json)) << field.json;
  }
}

TEST(ConfigFields, AreKeptByRecipesWhateverTheirValue) {
  const auto settings = [](train::Recipe recipe) {
    std::map<std::string, std::string> values;
    for (const train::RecipeField& field : train::recipe_fields(recipe)) {
      values[field.name] = field.get();
    }
    return values;
  };
  std::set<std::string_view> options;
  for_variants([&](const TransformerConfig& variant, const ConfigField& field) {
    if (field.option.empty()) return;
    options.insert(field.option);
    train::Recipe recipe;
    recipe.model = variant;
    const std::string name(field.option);
    EXPECT_NE(settings(recipe)[name], settings({})[name]);
    const train::Recipe copy = train::recipe_from_json(train::to_json(recipe), "recipe");
    EXPECT_EQ(settings(copy), settings(recipe));
  });
  for (const ConfigField& field : config_fields()) {
    if (!field.option.empty()) {
      EXPECT_TRUE(options.contains(field.option)) << field.option;
    }
  }
}

TEST(ConfigFields, AreDescribedByTheOptionsOfTraining) {
  train::Recipe recipe;
  const std::vector<train::RecipeField> settings = train::recipe_fields(recipe);
  for (const ConfigField& field : config_fields()) {
    if (field.option.empty()) continue;
    const auto setting = std::ranges::find(settings, field.option, &train::RecipeField::name);
    ASSERT_NE(setting, settings.end()) << field.option;
    EXPECT_TRUE(setting->description.starts_with(field.description)) << field.option;
  }
}

TEST(ConfigFields, SayWhichSettingsShapeTheWeights) {
  std::set<std::string_view> free;
  for (const ConfigField& field : config_fields()) {
    if (!field.option.empty() && !field.is_architecture) free.insert(field.option);
  }
  EXPECT_EQ(free, (std::set<std::string_view>{"dropout", "attention-dropout", "activation-dropout",
                                              "label-smoothing", "guided-alignment-weight",
                                              "pooling", "problem-type", "truncate-source"}));
}

TEST(Configurations, OfEveryKindCanBeBuiltAsTheyAre) {
  const std::vector<std::string> labels{"cold", "warm"};
  for (const TransformerConfig& config :
       {translation_config(50), language_config(50), classifier_config(50, labels),
        masked_config(50), image_classifier_config(labels)}) {
    EXPECT_GT(num_parameters(config), 0) << to_json(config);
    EXPECT_EQ(transformer_config_from_json(to_json(config), "config.json"), config);
  }
}

}  // namespace
}  // namespace heed::models
