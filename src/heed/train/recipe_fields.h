// The settings of a recipe by name, for the command line and for checkpoints.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/train/recipe.h"

namespace heed::train {

// One setting of a recipe, named as in checkpoints and on the command line: batch-tokens.
struct RecipeField {
  std::string name;
  std::vector<std::string> other_names;  // aliases; help shows the first
  std::string description;
  std::function<std::string()> get;
  std::function<void(std::string_view)> set;  // refuses bad values (ErrorKind::usage)
  std::string group = {};                     // heading in the help
  bool may_differ_on_resume = false;
  bool is_flag = false;  // on the command line, true without a value
  std::string off = {};  // the name of a flag that sets it to false; may be empty
};

inline constexpr const char* fine_tuning_group = "Fine-tuning of a pretrained model";

// The table of settings. The command line, checkpoints, ranges and comparisons follow from it. The
// fields refer to `recipe`, which must outlive them.
std::vector<RecipeField> recipe_fields(Recipe& recipe);

// Sets fields by name or alias. Refuses other names and bad values (ErrorKind::usage).
void set_fields(Recipe& recipe, const Settings& values);
// The same for what a user changes in a preset: a preset fits its warm-up and its vocabulary to the
// run, and values that are given are taken as they are.
void customize(Recipe& preset, const Settings& values);

std::string to_json(const Recipe& recipe);
Recipe recipe_from_json(std::string_view text, const std::string& source);

// The settings that a model has from the one that it is initialised from, and nobody chooses.
void copy_inherited(models::TransformerConfig& to, const models::TransformerConfig& from);

// Copies what a resumed run must have in common with the one that was started.
void copy_recipe_of_run(Recipe& recipe, const Recipe& saved);

// Refuses (ErrorKind::usage) to resume with other settings than the run was started with, and names
// the first that differs; but see RecipeField::may_differ_on_resume.
void check_same_recipe(const Recipe& saved, const Recipe& recipe);

}  // namespace heed::train
