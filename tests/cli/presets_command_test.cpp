#include "heed/cli/presets_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/models/presets.h"
#include "heed/train/recipe_fields.h"
#include "support/expect_error.h"

namespace heed::cli {
namespace {

std::vector<std::string> lines_of(const PresetsOptions& options) {
  std::stringstream out;
  EXPECT_EQ(presets(options, out), 0);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  return lines;
}

TEST(PresetsCommand, TheTableHasALineForEachPreset) {
  const std::vector<std::string> names = models::preset_names(), lines = lines_of({});
  ASSERT_EQ(lines.size(), names.size() + 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(lines[i + 1].starts_with(names[i] + ' ')) << lines[i + 1];
    EXPECT_EQ(lines[i + 1].size(), lines[0].size()) << lines[i + 1];
  }
  std::istringstream tiny(lines[1]);
  const std::vector<std::string> words{std::istream_iterator<std::string>(tiny), {}};
  EXPECT_EQ(words, (std::vector<std::string>{"tiny", "translation", "128", "4+4", "4", "10000",
                                             "4096", "0.005", "6000u"}));
}

TEST(PresetsCommand, JsonIsOneObjectPerLine) {
  const std::vector<std::string> names = models::preset_names(), lines = lines_of({.json = true});
  ASSERT_EQ(lines.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto object = nlohmann::json::parse(lines[i]);
    const train::Recipe recipe = train::recipe_preset(names[i]);
    EXPECT_EQ(object["name"], names[i]);
    EXPECT_EQ(object["width"], recipe.model.model_dim);
    EXPECT_EQ(object["learning_rate"], recipe.training.schedule.peak);
    const bool has_size = names[i] != "char" && names[i] != "gpt-mini" && names[i] != "images";
    EXPECT_EQ(object["vocabulary"].is_number(), has_size) << lines[i];
  }
}

TEST(PresetsCommand, TheSettingsOfOnePresetMakeItsRecipe) {
  for (const std::string& name : models::preset_names()) {
    train::Recipe recipe;
    std::map<std::string, std::string> values;
    for (const std::string& line : lines_of({.preset = name})) {
      const std::size_t equals = line.find(" = ");
      ASSERT_NE(equals, line.npos) << line;
      std::string value = line.substr(equals + 3);
      std::erase(value, '"');
      values[line.substr(0, equals)] = value;
    }
    train::set_fields(recipe, values);
    EXPECT_EQ(train::to_json(recipe), train::to_json(train::recipe_preset(name)));
    EXPECT_EQ(lines_of({.preset = name, .json = true}),
              std::vector{train::to_json(train::recipe_preset(name))});
  }
}

TEST(PresetsCommand, RefusesOtherNames) {
  expect_error(ErrorKind::usage,
               "preset: expected one of tiny, small, base, demo, answers, char, gpt-mini, gpt2, "
               "prompts, classes, masked, images, tags, found huge",
               [] { lines_of({.preset = "huge"}); });
}

}  // namespace
}  // namespace heed::cli
