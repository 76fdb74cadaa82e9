// One matrix product over all threads, without a record: what the differentiable products are made
// of.
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/kernels/weight_format.h"

namespace heed::ops {

// One factor of a product, read as it lies or transposed. `stride` is the distance of two stored
// rows.
struct Factor {
  const float* data;
  Index stride;
  bool transposed = false;
};

struct GemmOptions {
  bool accumulate = false;      // add to c instead of overwriting it
  const float* bias = nullptr;  // [n], added to every row of c
  float* row_sums = nullptr;    // [m], of a transposed a: its rows are added to them in passing
};

// c [m, n] = a [m, k] x b [k, n]. Each element of c is one chain of fused multiply-adds over k, so
// a row of the result does not depend on which other rows are computed with it.
void parallel_gemm(float* c, Index c_stride, const Factor& a, const Factor& b, Index m, Index n,
                   Index k, const GemmOptions& options = {});

// The two halves of it, for a b that is multiplied by many times. `panels` holds
// kernels::gemm_packed_size(k, n) floats.
void parallel_pack(float* panels, const Factor& b, Index n, Index k);
void parallel_gemm_packed(float* c, Index c_stride, const Factor& a, const float* panels, Index m,
                          Index n, Index k, const GemmOptions& options = {});

// The same for a packed weight [n, k] in fewer bits (kernels/quantized_gemm.h), read transposed.
// Does not accumulate.
void parallel_gemm_quantized(float* c, Index c_stride, const Factor& a,
                             kernels::WeightFormat format, const std::uint8_t* packed, Index m,
                             Index n, Index k, const GemmOptions& options = {});

}  // namespace heed::ops
