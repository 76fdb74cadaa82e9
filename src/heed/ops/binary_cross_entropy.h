// Binary cross-entropy of logits and targets: every element is a yes or no of its own.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

// -y log(sigmoid(x)) - (1 - y) log(1 - sigmoid(x)) for each logit x and its target y, from 0 to 1.
// logits and targets of one shape -> the same shape. Targets get no gradient.
Tensor binary_cross_entropy(const Tensor& logits, const Tensor& targets);

}  // namespace heed::ops
