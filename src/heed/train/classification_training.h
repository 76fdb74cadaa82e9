// Training on lines with labels: which class does a line belong to?
#pragma once

#include "heed/train/training_kind.h"

namespace heed::train {

TrainingKind classification_training();

}  // namespace heed::train
