// Packing of quantized weights, in the order that kernels/quantized_gemm.h reads them in.
//
// A panel holds as many rows of the weight as a panel of floats (kernels/gemm.h), transposed in
// the same way: for each k the numbers of all rows side by side. int8 begins with the rows' scales.
// int4 begins each group of k with the scales, and takes eight k at once: a 32-bit word for each
// row, the first k in the lowest bits, each number with 8 added to it.
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/kernels/weight_format.h"

namespace heed::kernels {

// The bytes that a packed weight [n, k] needs, in any format but f32. The panel that holds row j, a
// multiple of gemm_panel_width(), begins at quantized_packed_bytes(format, k, j).
Index quantized_packed_bytes(WeightFormat format, Index k, Index n) noexcept;

// Packs rows [n, weight_row_bytes] with their scales [n, weight_row_scales].
void pack_quantized(std::uint8_t* packed, WeightFormat format, const std::uint8_t* rows,
                    const float* scales, Index k, Index n) noexcept;

}  // namespace heed::kernels
