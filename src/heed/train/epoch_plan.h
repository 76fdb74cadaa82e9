// The batches of an epoch, as the recipe wants them.
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
