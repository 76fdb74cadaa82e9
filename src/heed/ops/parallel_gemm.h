// GEMM over all threads, outside the autograd graph: the differentiable products call it.
#pragma once

#include "heed/base/index.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/quantized_gemm.h"

namespace heed::ops {

using kernels::GemmSizes;

// One operand of a product, read as it is or transposed. `stride` is the distance of two stored
// rows.
struct Operand {
  const float* data;
  Index stride;
  bool transposed = false;

  kernels::MatrixView view() const {
    return transposed ? kernels::MatrixView{data, 1, stride} : kernels::MatrixView{data, stride, 1};
  }
};

struct GemmOptions {
  bool accumulate = false;      // add to c instead of overwriting it
  const float* bias = nullptr;  // [n], added to every row of c
  float* row_sums = nullptr;    // [m], of a transposed A: its rows are added to them in passing

  kernels::Epilogue epilogue() const { return {accumulate, bias}; }
};

// c [m, n] = a [m, k] x b [k, n]. A row of the result does not depend on which other rows are
// computed with it.
void parallel_gemm(kernels::RowsOut c, const Operand& a, const Operand& b, const GemmSizes& sizes,
                   const GemmOptions& options = {});

// The two halves of it, for a B that is multiplied by many times. `panels` holds
// kernels::gemm_packed_size(k, n) floats.
void parallel_pack(float* panels, const Operand& b, Index n, Index k);
void parallel_gemm_packed(kernels::RowsOut c, const Operand& a, const float* panels,
                          const GemmSizes& sizes, const GemmOptions& options = {});

// The same for a quantized weight [n, k], read transposed. Does not accumulate.
void parallel_gemm_quantized(kernels::RowsOut c, const Operand& a,
                             const kernels::QuantizedView& weight, const GemmSizes& sizes,
                             const GemmOptions& options = {});

}  // namespace heed::ops
