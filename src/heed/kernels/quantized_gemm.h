// GEMM of one thread with a quantized B: dequantized in registers, or panel by panel in L1, each
// time that it is read.
//
// A number of int8 or int4 stands for the float nearest to integer x scale. Every result has the
// bits that kernels::gemm gives for the dequantized weights, whatever the number of rows. The
// weight is packed by kernels/quantized_pack.h.
#pragma once

#include <cstdint>

#include "heed/kernels/gemm.h"
#include "heed/kernels/weight_format.h"

namespace heed::kernels {

// A packed weight, in any format but f32.
struct QuantizedView {
  WeightFormat format;
  const std::uint8_t* packed;
};

// Row j of the weight as k floats.
void dequantize_row(float* row, const QuantizedView& weight, Index j, Index k) noexcept;

// c [m, n] = a [m, k] x weight^T, then + bias [n] unless null.
void quantized_gemm(RowsOut c, RowsView a, const QuantizedView& weight, const GemmSizes& sizes,
                    const float* bias) noexcept;

}  // namespace heed::kernels
