// The classes that a classifier thinks most likely.
#pragma once

#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed::infer {

struct ClassProbability {
  int of_class = 0;
  double probability = 0;
};

// The `count` most likely classes of one row of logits, the most likely first; all of them if there
// are fewer.
std::vector<ClassProbability> most_likely_classes(std::span<const float> logits, Index count);

}  // namespace heed::infer
