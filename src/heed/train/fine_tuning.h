// The training that suits a model of another family which is trained further.
#pragma once

#include "heed/train/recipe.h"

namespace heed::train {

// Gives a recipe, which has the base model's architecture, the training that suits it: a few passes
// over the data, with a rate that changes little of what the model knows; of a LoRA adapter, which
// starts from nothing, a higher one. docs/fine_tuning.md lists them.
void fit_to_fine_tuning(Recipe& recipe, bool with_lora);

// The longest example is no longer than learned positions allow.
void fit_max_length(Recipe& recipe);

}  // namespace heed::train
