// Softmax over the last axis.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

// Weights that sum to 1. Stable for any finite input; minus infinity is a masked cell, and a row in
// which everything is masked gives zeros.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

}  // namespace heed::ops
