// Beginning with what another model has learned: its tokenizer, its network and its weights.
#pragma once

#include <string>

#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

// Makes the recipe's network like that of the model in the folder: layers, widths, heads, positions
// and norms. Refuses (ErrorKind::model) a model of another kind; a classifier may begin with a
// masked model.
void take_network(Recipe& recipe, const std::string& folder);

// Refuses (ErrorKind::usage) a recipe with another network, and names the setting that differs.
void check_same_network(const Recipe& recipe, const std::string& folder);

// Overwrites all parameters that have one of the same name in the folder; but those of a head only
// if both have the same labels. Refuses (ErrorKind::model) one of another shape.
void take_weights(TrainingTask& task, const std::string& folder);

}  // namespace heed::train
