// GEMM of one thread with few rows of A, over a B that is read once, where it is.
#pragma once

#include "heed/kernels/gemm.h"

namespace heed::kernels {

// c [m, n] = a [m, k] x b^T with b [n, k]. The same bits as kernels::gemm gives. B is transposed
// into panels piece by piece, in registers or in L1: good while m is so small that reading B is
// what costs.
void gemm_few_rows(RowsOut c, RowsView a, RowsView b, const GemmSizes& sizes,
                   const Epilogue& epilogue = {}) noexcept;

}  // namespace heed::kernels
