// Beginning with what another model has learned: its tokenizer, its embedding and its encoder.
#pragma once

#include <string>

#include "heed/models/classifier.h"
#include "heed/train/recipe.h"

namespace heed::train {

// Makes the recipe's network like that of the model in the folder: layers, widths, heads, positions
// and norms. Refuses (ErrorKind::model) all but masked models and classifiers.
void take_network(Recipe& recipe, const std::string& folder);

// Refuses (ErrorKind::usage) a recipe with another network, and names the setting that differs.
void check_same_network(const Recipe& recipe, const std::string& folder);

// Overwrites all parameters that have one of the same name in the folder; but those of the head
// only if both have the same labels. Refuses (ErrorKind::model) one of another shape.
void take_weights(models::Classifier& model, const std::string& folder);

}  // namespace heed::train
