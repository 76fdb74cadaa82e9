#include "heed/models/config_fields.h"

#include <gtest/gtest.h>

#include <set>

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
  operator Value() const;  // not defined: only the type counts
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

bool is_setting(const ConfigField& field) {
  return !std::holds_alternative<JsonConstant>(field.member);
}

TEST(ConfigFields, HaveARowForEveryMemberOfTheConfiguration) {
  EXPECT_EQ(std::ranges::count_if(config_fields(), is_setting),
            static_cast<std::ptrdiff_t>(num_members<TransformerConfig>()));
}

TEST(ConfigFields, HaveNamesOfTheirOwn) {
  std::set<std::string_view> keys, options;
  for (const ConfigField& field : config_fields()) {
    EXPECT_TRUE(keys.insert(field.json).second) << field.json;
    for (const std::string_view name : {field.option, field.alias}) {
      if (!name.empty()) {
        EXPECT_TRUE(options.insert(name).second) << name;
      }
    }
    EXPECT_EQ(field.option.empty(), field.description.empty()) << field.json;
    EXPECT_EQ(field.option.empty(), field.group.empty()) << field.json;
  }
}

// A row is all that config.json and a recipe need to keep a value of any setting.
TEST(ConfigFields, AreKeptByConfigJsonAndByRecipes) {
  for (const ModelKind kind : {ModelKind::translation, ModelKind::language, ModelKind::classifier,
                               ModelKind::masked, ModelKind::image_classifier}) {
    for (const ConfigField& field : config_fields()) {
      if (field.option.empty() || !field.exists(kind)) continue;
      train::Recipe recipe;
      recipe.model = small_config(kind);
      if (has_classes(kind)) recipe.model.labels = {"cold", "warm"};
      bool is_in_recipe = false;
      for (const train::RecipeField& setting : train::recipe_fields(recipe)) {
        if (setting.name != field.option) continue;
        is_in_recipe = true;
        EXPECT_EQ(setting.description.find(field.description), 0u);
        const auto restored = train::recipe_from_json(train::to_json(recipe), "recipe");
        train::Recipe copy = restored;
        for (const train::RecipeField& other : train::recipe_fields(copy)) {
          if (other.name == field.option) {
            EXPECT_EQ(other.get(), setting.get()) << field.option;
          }
        }
      }
      EXPECT_TRUE(is_in_recipe) << field.option;
      EXPECT_EQ(transformer_config_from_json(to_json(recipe.model), "config.json"), recipe.model);
    }
  }
}

TEST(ConfigFields, SayWhichSettingsShapeTheWeights) {
  std::set<std::string_view> free;
  for (const ConfigField& field : config_fields()) {
    if (!field.option.empty() && !field.is_architecture) free.insert(field.option);
  }
  EXPECT_EQ(free,
            (std::set<std::string_view>{"dropout", "attention-dropout", "activation-dropout",
                                        "label-smoothing", "guided-alignment-weight", "pooling"}));
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
