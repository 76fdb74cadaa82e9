// Matrix products of one thread with weights of fewer bits than a float: they are widened in
// registers, or panel by panel in the near cache, each time that they are read.
//
// A number of int8 or int4 stands for the float nearest to integer x scale. Every result has the
// bits that kernels::gemm gives for the widened weights, whatever the number of rows. The weight is
// packed by kernels/quantized_pack.h.
#pragma once

#include <cstdint>

#include "heed/kernels/weight_format.h"

namespace heed::kernels {

// Row j of the weight as k floats.
void dequantize_row(float* row, WeightFormat format, const std::uint8_t* packed, std::int64_t j,
                    std::int64_t k) noexcept;

// c [m, n] = a [m, k] x weight^T, then + bias [n] unless null.
void quantized_gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                    WeightFormat format, const std::uint8_t* packed, std::int64_t m, std::int64_t n,
                    std::int64_t k, const float* bias) noexcept;

}  // namespace heed::kernels
