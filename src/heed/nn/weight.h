// A weight matrix in the forms that it can have: floats, floats with a packed copy, or quantized.
#pragma once

#include "heed/core/tensor.h"
#include "heed/ops/packed_matrix.h"

namespace heed::nn {

struct Weight {
  Tensor values;             // [O, I]; undefined once quantized
  ops::PackedMatrix packed;  // defined once packed or quantized

  // The packed form has the same bits and is faster, but no gradient.
  bool use_packed() const {
    return packed.is_defined() && (!is_grad_enabled() || !values.is_defined());
  }
  // The matrix as floats; a quantized one is dequantized.
  Tensor floats() const { return values.is_defined() ? values : packed.dequantize(); }
};

// x W^T + b: x [N, I], bias [O] or undefined -> [N, O].
Tensor linear(const Tensor& x, const Weight& weight, const Tensor& bias = {});

}  // namespace heed::nn
