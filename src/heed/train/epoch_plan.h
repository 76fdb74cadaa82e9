// How a recipe cuts the examples of an epoch into batches.
#pragma once

#include "heed/data/batch_plan.h"
#include "heed/train/recipe.h"

namespace heed::train {

inline data::EpochPlanOptions epoch_plan_options(const TrainingOptions& training) {
  return {.batch_tokens = training.batch_tokens,
          .seed = training.seed,
          .curriculum = training.curriculum};
}

}  // namespace heed::train
