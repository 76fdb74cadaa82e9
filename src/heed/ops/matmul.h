// Products of two matrices.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

struct MatmulOptions {
  bool transpose_a = false;  // a is stored [k, m]
  bool transpose_b = false;  // b is stored [n, k]
};

// a [m, k] x b [k, n] -> [m, n]. Refuses other ranks and inner sizes that differ.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

}  // namespace heed::ops
