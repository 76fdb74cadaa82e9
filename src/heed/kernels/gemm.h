// GEMM of one thread over a packed B: c = a x b, in the layout and with the names of BLIS.
//
// B is packed in panels of NR = gemm_panel_width() columns, padded with zeros; the
// micro-kernel computes a tile of MR x NR elements of c in registers, over KC of k at a time.
#pragma once

#include "heed/base/index.h"
#include "heed/kernels/matrix_view.h"

namespace heed::kernels {

// NR: columns of a panel of B. It depends on the processor's vectors.
Index gemm_panel_width() noexcept;

// MR: rows of the micro-kernel's tile. Work is best split into whole tiles.
constexpr Index gemm_mr = 6;

// c [m, n] = a [m, k] x b [k, n].
struct GemmSizes {
  Index m, n, k;
};

// Applied to a sum before it is stored.
struct Epilogue {
  bool accumulate = false;      // add what c holds
  const float* bias = nullptr;  // [n], added to every row

  Epilogue from_column(Index column) const { return {accumulate, bias ? bias + column : nullptr}; }
};

// Packing of a transposed A (row_stride 1): A is copied tile by tile and read in order. Its own
// stride may be one where all of a tile's lines fall on the same sets of the caches.
struct PackA {
  float* scratch = nullptr;   // gemm_pack_a_size(m) floats; null: A is read where it is
  float* row_sums = nullptr;  // [m], unless null: += each row of A, one column after another
};
Index gemm_pack_a_size(Index m) noexcept;

// Memory that the caller reads next. A product prefetches it, some cache lines with every tile:
// prefetched all at once, or not at all, it would be waited for.
struct PrefetchRange {
  const float* data = nullptr;
  Index count = 0;  // floats
};

struct GemmOptions {
  Epilogue epilogue = {};
  PackA pack_a = {};
  PrefetchRange prefetch = {};
};

// The floats that a packed B [k, n] needs: n rounded up to whole panels.
Index gemm_packed_size(Index k, Index n) noexcept;

// Packs B [k, n]; one of its strides is 1. The panel that holds column j, a multiple of the panel
// width, begins at packed + j * k. `packed` is aligned to 64 bytes.
void gemm_pack(float* packed, const MatrixView& b, Index k, Index n) noexcept;

void gemm(RowsOut c, const MatrixView& a, const float* packed_b, const GemmSizes& sizes,
          const GemmOptions& options = {}) noexcept;

// A good stride for rows of n floats that are read column by column: whole panels, and an odd
// number of cache lines, so that neighbouring rows spread over all sets of the cache.
Index gemm_row_stride(Index n) noexcept;

}  // namespace heed::kernels
