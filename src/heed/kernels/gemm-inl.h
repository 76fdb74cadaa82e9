// The register block of every matrix product; compiled once per instruction set.
//
// b lies in panels: for each k, `panel_width()` neighbouring columns side by side, padded with
// zeros. A block of up to 6 rows of c by one panel stays in registers while k runs: 12
// accumulators, two vectors of b and one broadcast of a are all 16 registers of AVX2.
#if defined(HEED_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_INL_H_
#undef HEED_KERNELS_GEMM_INL_H_
#else
#define HEED_KERNELS_GEMM_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/kernels/gemm.h"
#include "heed/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_rows = gemm_block_rows;
// k is taken in blocks, so that a block of a panel (16 KiB) stays in the first-level cache.
constexpr std::int64_t block_depth = 256;

HWY_INLINE std::int64_t PanelWidth() { return 2 * hn::Lanes(hn::ScalableTag<float>()); }

struct GemmStart {
  bool accumulate;    // add to what c holds
  const float* bias;  // for the panel's columns, or null
};

// Asks for the cache lines of some vectors.
template <int vectors>
HWY_INLINE void PrefetchVectors(const float* from) {
  constexpr std::int64_t line_floats = 64 / sizeof(float);
  const std::int64_t count = vectors * hn::Lanes(hn::ScalableTag<float>());
#pragma GCC unroll 2
  for (std::int64_t at = 0; at < count; at += line_floats) hwy::Prefetch(from + at);
}

// c [rows, columns] (+)= a [rows, depth] x panel [depth, panel width]. a(i, k) is a[i * a_row + k *
// a_col]; the rows of the panel are `panel_stride` apart. With few columns the panel's first vector
// is enough.
template <int rows, int vectors>
HWY_INLINE void GemmBlock(float* HWY_RESTRICT c, std::int64_t c_stride, const float* HWY_RESTRICT a,
                          std::int64_t a_row, std::int64_t a_col, const float* HWY_RESTRICT panel,
                          std::int64_t panel_stride, std::int64_t columns, std::int64_t depth,
                          const GemmStart& start) {
  const hn::ScalableTag<float> d;
  const std::int64_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[rows][vectors];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
    PrefetchVectors<vectors>(c + i * c_stride);  // c is seldom in the near caches when k ends
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sum[i][v] = hn::Zero(d);
  }

  for (std::int64_t k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> b[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) b[v] = hn::LoadU(d, panel + v * lanes);
    panel += panel_stride;
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      const auto ai = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] = hn::MulAdd(ai, b[v], sum[i][v]);
    }
    a += a_col;
  }

  if (columns == vectors * lanes) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      float* row = c + i * c_stride;
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        if (start.accumulate) sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, row + v * lanes));
        if (start.bias) sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, start.bias + v * lanes));
        hn::StoreU(sum[i][v], d, row + v * lanes);
      }
    }
    return;
  }
  // Stored by loops that unroll: sums that a running index reached would live in memory always.
  HWY_ALIGN float tile[rows * vectors * HWY_MAX_BYTES / sizeof(float)];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) hn::Store(sum[i][v], d, tile + (i * vectors + v) * lanes);
  }
  for (int i = 0; i < rows; ++i) {
    float* row = c + i * c_stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      float value = tile[i * vectors * lanes + j];
      if (start.accumulate) value += row[j];
      if (start.bias) value += start.bias[j];
      row[j] = value;
    }
  }
}

template <int rows>
HWY_INLINE void GemmColumns(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row,
                            std::int64_t a_col, const float* panel, std::int64_t panel_stride,
                            std::int64_t columns, std::int64_t depth, const GemmStart& start) {
  if (columns <= static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()))) {
    GemmBlock<rows, 1>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth, start);
  } else {
    GemmBlock<rows, 2>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth, start);
  }
}

HWY_INLINE void GemmRows(int rows, float* c, std::int64_t c_stride, const float* a,
                         std::int64_t a_row, std::int64_t a_col, const float* panel,
                         std::int64_t panel_stride, std::int64_t columns, std::int64_t depth,
                         const GemmStart& start) {
  switch (rows) {
    case 1:
      return GemmColumns<1>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
    case 2:
      return GemmColumns<2>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
    case 3:
      return GemmColumns<3>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
    case 4:
      return GemmColumns<4>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
    case 5:
      return GemmColumns<5>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
    default:
      return GemmColumns<6>(c, c_stride, a, a_row, a_col, panel, panel_stride, columns, depth,
                            start);
  }
}

// Copies as many floats as a register block has rows.
HWY_INLINE void CopyBlockRow(float* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < block_rows; ++i) to[i] = from[i];
#else
  static_assert(block_rows >= 4 && block_rows <= 8);  // two fours, which may overlap
  const hn::FixedTag<float, 4> d;
  hn::StoreU(hn::LoadU(d, from), d, to);
  hn::StoreU(hn::LoadU(d, from + block_rows - 4), d, to + block_rows - 4);
#endif
}

// Copies a transposed a [m, depth], where a(i, k) is a[i + k * a_col], so that the rows of a
// register block lie side by side for each k: block after block, each [depth, block_rows]. Several
// blocks at once, which are some cache lines of a: only those at their ends are fetched twice.
HWY_INLINE void GatherBlocks(float* HWY_RESTRICT blocks, const float* HWY_RESTRICT a,
                             std::int64_t a_col, std::int64_t m, std::int64_t depth) {
  constexpr int blocks_at_once = 8;
  std::int64_t row = 0;
  for (; row + blocks_at_once * block_rows <= m; row += blocks_at_once * block_rows) {
    for (std::int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 8
      for (int i = 0; i < blocks_at_once; ++i) {
        CopyBlockRow(blocks + row * depth + (i * depth + k) * block_rows,
                     a + row + i * block_rows + k * a_col);
      }
    }
  }
  for (; row < m; row += block_rows) {
    const std::int64_t rows = std::min<std::int64_t>(block_rows, m - row);
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t i = 0; i < rows; ++i) {
        blocks[row * depth + k * block_rows + i] = a[row + i + k * a_col];
      }
    }
  }
}

// c [m, n] (+)= a x packed b. `packed` holds whole panels of `k` rows each; bias may be null. With
// `gathered`, room for gemm_gathered_size(m) floats, a transposed a is copied block by block first:
// its own stride may be one where all of a block's lines fall on the same sets of the caches.
HWY_INLINE void GemmPanels(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row,
                           std::int64_t a_col, const float* packed, std::int64_t m, std::int64_t n,
                           std::int64_t k, bool accumulate, const float* bias,
                           float* gathered = nullptr) {
  const std::int64_t width = PanelWidth();
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const std::int64_t depth = std::min(block_depth, k - begin);
    const bool is_last = begin + depth >= k;
    const float* a_block = a + begin * a_col;
    std::int64_t row_step = a_row, col_step = a_col;
    if (gathered) {
      GatherBlocks(gathered, a_block, a_col, m, depth);
      a_block = gathered;
      row_step = depth;  // between blocks: a block's own rows are 1 apart
      col_step = block_rows;
    }
    const std::int64_t row_in_block = gathered ? 1 : a_row;
    for (std::int64_t column = 0; column < n; column += width) {
      const float* panel = packed + column * k + begin * width;
      const std::int64_t columns = std::min(width, n - column);
      const GemmStart start{accumulate || begin > 0, is_last && bias ? bias + column : nullptr};
      for (std::int64_t row = 0; row < m; row += block_rows) {
        const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, m - row));
        GemmRows(rows, c + row * c_stride + column, c_stride, a_block + row * row_step,
                 row_in_block, col_step, panel, width, columns, depth, start);
      }
    }
    begin += depth;
  } while (begin < k);
}

// The same for a b that is not packed: its rows are `b_stride` apart and can be read to the end of
// their last panel. Good when all rows of c are made at once, so that a panel is read many times.
HWY_INLINE void GemmRowsOfB(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row,
                            std::int64_t a_col, const float* b, std::int64_t b_stride,
                            std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate) {
  const std::int64_t width = PanelWidth();
  for (std::int64_t column = 0; column < n; column += width) {
    const std::int64_t columns = std::min(width, n - column);
    for (std::int64_t begin = 0; begin < k; begin += block_depth) {
      const std::int64_t depth = std::min(block_depth, k - begin);
      const GemmStart start{accumulate || begin > 0, nullptr};
      for (std::int64_t row = 0; row < m; row += block_rows) {
        const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, m - row));
        GemmRows(rows, c + row * c_stride + column, c_stride, a + row * a_row + begin * a_col,
                 a_row, a_col, b + begin * b_stride + column, b_stride, columns, depth, start);
      }
    }
  }
}

// Panels of columns [0, n) of b: b(k, j) is b[k * b_row + j * b_col]. One of the two strides is 1.
HWY_INLINE void PackPanels(float* packed, const float* b, std::int64_t b_row, std::int64_t b_col,
                           std::int64_t n, std::int64_t k) {
  const std::int64_t width = PanelWidth();
  for (std::int64_t column = 0; column < n; column += width) {
    const std::int64_t columns = std::min(width, n - column);
    float* panel = packed + column * k;
    if (b_col == 1 && columns == width) {
      const hn::ScalableTag<float> d;
      const std::int64_t lanes = hn::Lanes(d);
      for (std::int64_t i = 0; i < k; ++i) {
        const float* row = b + i * b_row + column;
        hn::Store(hn::LoadU(d, row), d, panel + i * width);
        hn::Store(hn::LoadU(d, row + lanes), d, panel + i * width + lanes);
      }
    } else if (b_col == 1) {
      for (std::int64_t i = 0; i < k; ++i) {
        const float* row = b + i * b_row + column;
        for (std::int64_t j = 0; j < columns; ++j) panel[i * width + j] = row[j];
        for (std::int64_t j = columns; j < width; ++j) panel[i * width + j] = 0;
      }
    } else {
      TransposePadded(panel, width, b + column * b_col, b_col, columns, k);
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
