// Training on one running text: each token from those before it.
#pragma once

#include "heed/train/training_kind.h"

namespace heed::train {

TrainingKind language_training();

}  // namespace heed::train
