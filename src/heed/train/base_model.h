// Initialising a run from a pretrained model: its architecture and its weights.
#pragma once

#include <string>

#include "heed/train/recipe.h"
#include "heed/train/task.h"

namespace heed::train {

// Gives the recipe the architecture of a model: layers, widths, heads, positions and norms, and all
// that only networks of other families have. Its kind stays.
void copy_architecture(Recipe& recipe, const models::TransformerConfig& model);
// That of the recipe's kind of model, made from the model in the folder. Refuses (ErrorKind::model)
// a model of another kind; a classifier or a tagger may be initialised from a masked language model
// or from an encoder, and of another family it gets the head that this family has.
void copy_architecture(Recipe& recipe, const std::string& folder);

// Refuses (ErrorKind::usage) a recipe with another architecture, and names the setting that
// differs.
void check_same_architecture(const Recipe& recipe, const std::string& folder);

// Overwrites all parameters with those of the same name in the folder; those of a head only if it
// has one for the same labels. Refuses (ErrorKind::model) one of another shape.
void initialise_from(Task& task, const std::string& folder);

}  // namespace heed::train
