// Training on two texts of which each line of one says the same as that line of the other.
#pragma once

#include "heed/train/training_kind.h"

namespace heed::train {

TrainingKind translation_training();

}  // namespace heed::train
