// Matrix products of one thread with few rows, over a factor that is read once, as it lies.
#pragma once

#include <cstdint>

namespace heed::kernels {

// c [m, n] = a [m, k] x b^T with b [n, k], or += with accumulate; then + bias [n] unless null. The
// same bits as kernels::gemm gives. b is brought into the order of panels piece by piece, inside
// the near cache: good while m is so small that reading b is what costs.
void gemm_few_rows(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                   const float* b, std::int64_t b_stride, std::int64_t m, std::int64_t n,
                   std::int64_t k, bool accumulate, const float* bias) noexcept;

}  // namespace heed::kernels
