// The linear layer as a function: y = x weight^T + bias.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

class PackedMatrix;

// x [N, I], weight [O, I], bias [O] or undefined -> [N, O].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// The same for a packed weight: the bits of `linear` with the weight itself, or with the
// dequantized one. For inference: refuses an x that needs a gradient, unless gradients are off
// (NoGrad).
Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias);

}  // namespace heed::ops
