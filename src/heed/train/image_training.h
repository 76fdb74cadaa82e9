// Training on images: which class does an image belong to?
#pragma once

#include "heed/train/training_kind.h"

namespace heed::train {

TrainingKind image_training();

}  // namespace heed::train
