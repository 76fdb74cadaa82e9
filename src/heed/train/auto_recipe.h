// Chooses a recipe for the data and the length of a run: `--preset auto`. docs/recipes.md has the
// rules and the measurements behind them.
#pragma once

#include <string_view>

#include "heed/train/data_size.h"
#include "heed/train/recipe_fields.h"

namespace heed::train {

inline constexpr std::string_view auto_preset = "auto";

struct RunBudget {
  RunLength after;
  double speed = 0;  // floating-point operations per second: matmul_speed()
};

// Sizes of the model, of images and patches, vocabulary, batch, learning rate, dropout, positions
// and curriculum. Equal arguments give equal recipes.
Recipe auto_recipe(models::ModelKind kind, const DataSize& data, const RunBudget& budget);
// The same, with settings that were given: those stay, and the others are fitted to them.
Recipe auto_recipe(models::ModelKind kind, const DataSize& data, const RunBudget& budget,
                   const Settings& settings);

// Fits what was not given to what was: the heads to a width, the patches to an image size.
void fit_to_settings(Recipe& recipe, const Settings& settings);

// Whether auto_recipe() chooses the setting with this name; the others have one value.
bool is_chosen(std::string_view setting);

// Passes over the data that the run makes, in an estimate of within a factor of two or so.
double estimated_epochs(const Recipe& recipe, const DataSize& data, const RunBudget& budget);

}  // namespace heed::train
