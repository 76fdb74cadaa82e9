// Training on lines of text in which words are masked: what stood there?
#pragma once

#include "heed/train/training_kind.h"

namespace heed::train {

TrainingKind masked_training();

}  // namespace heed::train
