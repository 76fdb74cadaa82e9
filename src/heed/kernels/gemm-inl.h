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

#include "heed/base/index.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_rows = gemm_block_rows;
// k is taken in blocks, so that a block of a panel (16 KiB) stays in the first-level cache.
constexpr std::int64_t block_depth = 256;
// How far ahead rows are asked for where each is on another page: the processor does not by itself.
constexpr std::int64_t steps_ahead = 16;

HWY_INLINE std::int64_t PanelWidth() { return 2 * hn::Lanes(hn::ScalableTag<float>()); }

struct GemmStart {
  bool accumulate;    // add to what c holds
  const float* bias;  // for the panel's columns, or null
};

// Asks for the cache lines of some vectors.
template <int vectors>
HWY_INLINE void PrefetchVectors(const float* from) {
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

  // Unrolled: rows from the near caches, one thread of Zen 3, sums over 128 have 98.3 GFLOP/s, and
  // 96.7 without.
#pragma GCC unroll 4
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

// The same in one piece, if the processor's vectors are long enough, which reads and writes a
// little more: for what is written again later.
HWY_INLINE void CopyBlockRowAndMore(float* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
  const hn::CappedTag<float, 8> d;
  if (hn::MaxLanes(d) < block_rows) return CopyBlockRow(to, from);
  hn::StoreU(hn::LoadU(d, from), d, to);
}

// Copies some whole blocks: see GatherBlocks.
template <int count>
HWY_INLINE void GatherWholeBlocks(float* HWY_RESTRICT blocks, const float* HWY_RESTRICT a,
                                  std::int64_t a_col, std::int64_t depth) {
  const std::int64_t block_size = depth * block_rows;
  for (std::int64_t k = 0; k < depth - 1; ++k, a += a_col, blocks += block_rows) {
    const float* ahead = a + std::min(steps_ahead, depth - 1 - k) * a_col;
#pragma GCC unroll 4
    for (int at = 0; at < count * block_rows; at += line_floats) hwy::Prefetch(ahead + at);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      CopyBlockRowAndMore(blocks + i * block_size, a + i * block_rows);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) CopyBlockRow(blocks + i * block_size, a + i * block_rows);
}

// Copies a transposed a [m, depth], where a(i, k) is a[i + k * a_col], so that the rows of a
// register block lie side by side for each k: block after block, each [depth, block_rows]. Several
// blocks at once, which are some cache lines of a: only those at their ends are fetched twice.
HWY_INLINE void GatherBlocks(float* HWY_RESTRICT blocks, const float* HWY_RESTRICT a,
                             std::int64_t a_col, std::int64_t m, std::int64_t depth) {
  if (depth == 0) return;
  constexpr int blocks_at_once = 8;
  std::int64_t row = 0;
  for (; row + blocks_at_once * block_rows <= m; row += blocks_at_once * block_rows) {
    GatherWholeBlocks<blocks_at_once>(blocks + row * depth, a + row, a_col, depth);
  }
  for (; row + block_rows <= m; row += block_rows) {
    GatherWholeBlocks<1>(blocks + row * depth, a + row, a_col, depth);
  }
  for (std::int64_t k = 0; row < m && k < depth; ++k) {
    for (std::int64_t i = 0; i < m - row; ++i) {
      blocks[row * depth + k * block_rows + i] = a[row + i + k * a_col];
    }
  }
}

// sums [count * block_rows] += the rows of some gathered blocks, one k after another. Several
// blocks at once, so that the sums do not wait for each other. Reads a little behind the blocks'
// end.
template <int count>
HWY_INLINE void AddWholeBlocks(float* sums, const float* blocks, std::int64_t depth) {
  const hn::CappedTag<float, 8> d;
  const std::int64_t block_size = depth * block_rows;
  if (hn::MaxLanes(d) < block_rows) {
    for (std::int64_t k = 0; k < depth; ++k) {
      for (int row = 0; row < count * block_rows; ++row) {
        sums[row] += blocks[row / block_rows * block_size + k * block_rows + row % block_rows];
      }
    }
    return;
  }
  HWY_ALIGN float wide[count][8] = {};
  hn::Vec<decltype(d)> sum[count];
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    std::copy_n(sums + i * block_rows, block_rows, wide[i]);
    sum[i] = hn::Load(d, wide[i]);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      sum[i] = hn::Add(sum[i], hn::LoadU(d, blocks + i * block_size + k * block_rows));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    hn::Store(sum[i], d, wide[i]);
    std::copy_n(wide[i], block_rows, sums + i * block_rows);
  }
}

// sums [m] += the rows of a gathered a [m, depth].
HWY_INLINE void AddGathered(float* sums, const float* blocks, std::int64_t m, std::int64_t depth) {
  constexpr int blocks_at_once = 8;
  std::int64_t row = 0;
  for (; row + blocks_at_once * block_rows <= m; row += blocks_at_once * block_rows) {
    AddWholeBlocks<blocks_at_once>(sums + row, blocks + row * depth, depth);
  }
  for (; row + block_rows <= m; row += block_rows) {
    AddWholeBlocks<1>(sums + row, blocks + row * depth, depth);
  }
  for (std::int64_t k = 0; row < m && k < depth; ++k) {
    for (std::int64_t i = 0; i < m - row; ++i) {
      sums[row + i] += blocks[row * depth + k * block_rows + i];
    }
  }
}

// Rows of the next register block when so many are left. Blocks of one or two rows have too few
// sums to keep the processor busy, so the last two blocks share what is left.
HWY_INLINE std::int64_t RowsOfBlock(std::int64_t left) {
  const bool is_shared = left > block_rows && left < 2 * block_rows;
  return is_shared ? (left + 1) / 2 : std::min<std::int64_t>(block_rows, left);
}

// What a product asks for while it works.
struct Asking {
  ReadNext next;
  bool for_panels = false;  // for each while the one before it is used: b is in a far cache
};

// Asks for what is read next in `num_steps` parts.
class AskAhead {
 public:
  AskAhead(const ReadNext& next, std::int64_t num_steps)
      : at_(next.data), end_(next.data + next.count) {
    if (next.count == 0) return;
    step_ = rounded_up(quotient_up(next.count, std::max<Index>(1, num_steps)), line_floats);
  }

  HWY_INLINE void step() {
    const float* last = std::min(at_ + step_, end_);
    for (; at_ < last; at_ += line_floats) ask_for_line(at_);
  }

 private:
  const float *at_, *end_;
  std::int64_t step_ = 0;
};

// c [m, n] (+)= a x packed b. `packed` holds whole panels of `k` rows each; bias may be null. With
// room to gather, a transposed a is copied block by block first: its own stride may be one where
// all of a block's lines fall on the same sets of the caches.
HWY_INLINE void GemmPanels(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row,
                           std::int64_t a_col, const float* packed, std::int64_t m, std::int64_t n,
                           std::int64_t k, bool accumulate, const float* bias,
                           const Gathering& gathering = {}, const Asking& asking = {}) {
  const std::int64_t width = PanelWidth(), blocks = quotient_up(m, block_rows);
  AskAhead ahead(asking.next, blocks * quotient_up(n, width) * quotient_up(k, block_depth));
  float* gathered = gathering.room;
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const std::int64_t depth = std::min(block_depth, k - begin);
    const bool is_last = begin + depth >= k;
    const float* a_block = a + begin * a_col;
    std::int64_t row_step = a_row, col_step = a_col;
    if (gathered) {
      GatherBlocks(gathered, a_block, a_col, m, depth);
      if (gathering.row_sums) AddGathered(gathering.row_sums, gathered, m, depth);
      a_block = gathered;
      row_step = depth;  // between blocks: a block's own rows are 1 apart
      col_step = block_rows;
    }
    const std::int64_t row_in_block = gathered ? 1 : a_row;
    for (std::int64_t column = 0; column < n; column += width) {
      const float* panel = packed + column * k + begin * width;
      const std::int64_t columns = std::min(width, n - column);
      const GemmStart start{accumulate || begin > 0, is_last && bias ? bias + column : nullptr};
      const bool is_rightmost = column + width >= n;
      const std::int64_t next_depth =
          is_rightmost ? std::min(block_depth, k - begin - depth) : depth;
      AskAhead panel_ahead({is_rightmost ? packed + (begin + depth) * width : panel + width * k,
                            asking.for_panels ? next_depth * width : 0},
                           blocks);
      for (std::int64_t row = 0, rows; row < m; row += rows) {
        // Gathered blocks are as many rows as there are, up to a whole block.
        rows = gathered ? std::min<std::int64_t>(block_rows, m - row) : RowsOfBlock(m - row);
        ahead.step();
        panel_ahead.step();
        GemmRows(static_cast<int>(rows), c + row * c_stride + column, c_stride,
                 a_block + row * row_step, row_in_block, col_step, panel, width, columns, depth,
                 start);
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
      for (std::int64_t row = 0, rows; row < m; row += rows) {
        rows = RowsOfBlock(m - row);
        GemmRows(static_cast<int>(rows), c + row * c_stride + column, c_stride,
                 a + row * a_row + begin * a_col, a_row, a_col, b + begin * b_stride + column,
                 b_stride, columns, depth, start);
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
