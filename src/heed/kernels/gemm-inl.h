// The micro-kernel of every GEMM, and packing; compiled once per instruction set.
//
// B is in panels: for each k, NR = PanelWidth() neighbouring columns side by side, padded with
// zeros. A tile of up to MR = 6 rows of c by one panel stays in registers while k runs: 12
// accumulators, two vectors of B and one broadcast of A are all 16 registers of AVX2.
#if defined(HEED_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_INL_H_
#undef HEED_KERNELS_GEMM_INL_H_
#else
#define HEED_KERNELS_GEMM_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "heed/base/index.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/dispatch_rows-inl.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int mr = gemm_mr;
// KC: k is taken in blocks, so that a block of a panel (16 KiB) stays in L1.
constexpr Index kc = 256;
// The prefetch distance, in rows, where each row is on another page: the hardware prefetcher does
// not cross pages.
constexpr Index rows_ahead = 16;

HWY_INLINE Index PanelWidth() { return 2 * hn::Lanes(hn::ScalableTag<float>()); }

// Prefetches the cache lines of some vectors.
template <int vectors>
HWY_INLINE void PrefetchVectors(const float* from) {
  const Index count = vectors * hn::Lanes(hn::ScalableTag<float>());
#pragma GCC unroll 2
  for (Index at = 0; at < count; at += line_floats) hwy::Prefetch(from + at);
}

// c [rows, columns] (+)= a [rows, depth] x panel [depth, NR]. With few columns the panel's first
// vector is enough.
template <int rows, int vectors>
HWY_INLINE void MicroKernel(const RowsOut& c, const MatrixView& a, const RowsView& panel,
                            Index columns, Index depth, const Epilogue& epilogue) {
  const hn::ScalableTag<float> d;
  const Index lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[rows][vectors];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
    PrefetchVectors<vectors>(c.row(i));  // c is seldom in L1 or L2 when k ends
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sum[i][v] = hn::Zero(d);
  }

  const float* HWY_RESTRICT a_column = a.data;
  const float* HWY_RESTRICT b_row = panel.data;
  const Index a_row_stride = a.row_stride, a_col_stride = a.col_stride, b_stride = panel.stride;
  // Unrolled: with rows in L1, one thread of Zen 3, sums over 128 have 98.3 GFLOP/s, and 96.7
  // without.
#pragma GCC unroll 4
  for (Index k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> b[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) b[v] = hn::LoadU(d, b_row + v * lanes);
    b_row += b_stride;
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      const auto ai = hn::Set(d, a_column[i * a_row_stride]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] = hn::MulAdd(ai, b[v], sum[i][v]);
    }
    a_column += a_col_stride;
  }

  if (columns == vectors * lanes) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      float* row = c.row(i);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        if (epilogue.accumulate) sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, row + v * lanes));
        if (epilogue.bias) sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, epilogue.bias + v * lanes));
        hn::StoreU(sum[i][v], d, row + v * lanes);
      }
    }
    return;
  }
  // Stored by loops that unroll: GCC 12 keeps sums that a running index reaches in memory always.
  HWY_ALIGN float tile[rows * vectors * HWY_MAX_BYTES / sizeof(float)];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) hn::Store(sum[i][v], d, tile + (i * vectors + v) * lanes);
  }
  for (int i = 0; i < rows; ++i) {
    float* row = c.row(i);
    for (Index j = 0; j < columns; ++j) {
      float value = tile[i * vectors * lanes + j];
      if (epilogue.accumulate) value += row[j];
      if (epilogue.bias) value += epilogue.bias[j];
      row[j] = value;
    }
  }
}

// The micro-kernel for a number of rows up to MR, and of columns up to NR.
HWY_INLINE void GemmTile(Index num_rows, const RowsOut& c, const MatrixView& a,
                         const RowsView& panel, Index columns, Index depth,
                         const Epilogue& epilogue) {
  DispatchRows<mr>(num_rows, [&]<int rows>() HEED_INLINE_LAMBDA {
    if (columns <= static_cast<Index>(hn::Lanes(hn::ScalableTag<float>()))) {
      MicroKernel<rows, 1>(c, a, panel, columns, depth, epilogue);
    } else {
      MicroKernel<rows, 2>(c, a, panel, columns, depth, epilogue);
    }
  });
}

// Copies MR floats.
HWY_INLINE void CopyMr(float* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < mr; ++i) to[i] = from[i];
#else
  static_assert(mr >= 4 && mr <= 8);  // two fours, which may overlap
  const hn::FixedTag<float, 4> d;
  hn::StoreU(hn::LoadU(d, from), d, to);
  hn::StoreU(hn::LoadU(d, from + mr - 4), d, to + mr - 4);
#endif
}

// The same in one piece, if the processor's vectors are long enough, which reads and writes a
// little more: for what is written again later.
HWY_INLINE void CopyMrAndMore(float* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
  const hn::CappedTag<float, 8> d;
  if (hn::MaxLanes(d) < mr) return CopyMr(to, from);
  hn::StoreU(hn::LoadU(d, from), d, to);
}

// Packs some whole tiles: see PackTransposedA.
template <int count>
HWY_INLINE void PackTiles(float* HWY_RESTRICT tiles, const float* HWY_RESTRICT a, Index a_col,
                          Index depth) {
  const Index tile_size = depth * mr;
  for (Index k = 0; k < depth - 1; ++k, a += a_col, tiles += mr) {
    const float* ahead = a + std::min(rows_ahead, depth - 1 - k) * a_col;
#pragma GCC unroll 4
    for (int at = 0; at < count * mr; at += line_floats) hwy::Prefetch(ahead + at);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      CopyMrAndMore(tiles + i * tile_size, a + i * mr);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) CopyMr(tiles + i * tile_size, a + i * mr);
}

// Packs a transposed A [m, depth], where a(i, k) is a[i + k * a_col], so that the rows of a tile
// are side by side for each k: tile after tile, each [depth, mr]. Several tiles at once, which are
// some cache lines of A: only those at their ends are fetched twice.
HWY_INLINE void PackTransposedA(float* HWY_RESTRICT tiles, const float* HWY_RESTRICT a, Index a_col,
                                Index m, Index depth) {
  if (depth == 0) return;
  constexpr int tiles_at_once = 8;
  Index row = 0;
  for (; row + tiles_at_once * mr <= m; row += tiles_at_once * mr) {
    PackTiles<tiles_at_once>(tiles + row * depth, a + row, a_col, depth);
  }
  for (; row + mr <= m; row += mr) {
    PackTiles<1>(tiles + row * depth, a + row, a_col, depth);
  }
  for (Index k = 0; row < m && k < depth; ++k) {
    for (Index i = 0; i < m - row; ++i) {
      tiles[row * depth + k * mr + i] = a[row + i + k * a_col];
    }
  }
}

// sums [count * mr] += the rows of some packed tiles, one k after another. Several tiles at once,
// so that the sums do not wait for each other. Reads a little beyond the end of the tiles.
template <int count>
HWY_INLINE void AddTiles(float* sums, const float* tiles, Index depth) {
  const hn::CappedTag<float, 8> d;
  const Index tile_size = depth * mr;
  if (hn::MaxLanes(d) < mr) {
    for (Index k = 0; k < depth; ++k) {
      for (int row = 0; row < count * mr; ++row) {
        sums[row] += tiles[row / mr * tile_size + k * mr + row % mr];
      }
    }
    return;
  }
  HWY_ALIGN float wide[count][8] = {};
  hn::Vec<decltype(d)> sum[count];
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    std::copy_n(sums + i * mr, mr, wide[i]);
    sum[i] = hn::Load(d, wide[i]);
  }
  for (Index k = 0; k < depth; ++k) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      sum[i] = hn::Add(sum[i], hn::LoadU(d, tiles + i * tile_size + k * mr));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    hn::Store(sum[i], d, wide[i]);
    std::copy_n(wide[i], mr, sums + i * mr);
  }
}

// sums [m] += the rows of a packed A [m, depth].
HWY_INLINE void AddPackedRows(float* sums, const float* tiles, Index m, Index depth) {
  constexpr int tiles_at_once = 8;
  Index row = 0;
  for (; row + tiles_at_once * mr <= m; row += tiles_at_once * mr) {
    AddTiles<tiles_at_once>(sums + row, tiles + row * depth, depth);
  }
  for (; row + mr <= m; row += mr) {
    AddTiles<1>(sums + row, tiles + row * depth, depth);
  }
  for (Index k = 0; row < m && k < depth; ++k) {
    for (Index i = 0; i < m - row; ++i) {
      sums[row + i] += tiles[row * depth + k * mr + i];
    }
  }
}

// Rows of the next tile when so many are left. Tiles of one or two rows have too few sums to keep
// the processor busy, so the last two tiles share what is left.
HWY_INLINE Index TileRows(Index left) {
  const bool is_shared = left > mr && left < 2 * mr;
  return is_shared ? (left + 1) / 2 : std::min<Index>(mr, left);
}

// Prefetches a range in `num_steps` parts.
class Prefetcher {
 public:
  Prefetcher(const PrefetchRange& range, Index num_steps)
      : at_(range.data), end_(range.data + range.count) {
    if (range.count == 0) return;
    step_ = round_up(quotient_up(range.count, std::max<Index>(1, num_steps)), line_floats);
  }

  HWY_INLINE void step() {
    const float* last = std::min(at_ + step_, end_);
    for (; at_ < last; at_ += line_floats) prefetch_line(at_);
  }

 private:
  const float *at_, *end_;
  Index step_ = 0;
};

// KC columns of A as the micro-kernel reads them, packed or where they are.
struct BlockOfA {
  MatrixView view;  // the strides inside a tile
  Index row_step;   // from tile to tile, for each row
  bool is_packed;

  MatrixView tile(Index row) const {
    return {view.data + row * row_step, view.row_stride, view.col_stride};
  }
  // Packed tiles have as many rows as there are, up to MR.
  Index rows(Index left) const { return is_packed ? std::min<Index>(mr, left) : TileRows(left); }
};

HWY_INLINE BlockOfA TakeBlockOfA(const MatrixView& a, Index m, Index begin, Index depth,
                                 const PackA& pack) {
  const float* data = a.data + begin * a.col_stride;
  if (!pack.scratch) return {{data, a.row_stride, a.col_stride}, a.row_stride, false};
  PackTransposedA(pack.scratch, data, a.col_stride, m, depth);
  if (pack.row_sums) AddPackedRows(pack.row_sums, pack.scratch, m, depth);
  return {{pack.scratch, 1, mr}, depth, true};
}

// The epilogue of one block of k: later blocks add to the first, and the last one adds the bias.
HWY_INLINE Epilogue BlockEpilogue(const Epilogue& epilogue, Index begin, bool is_last) {
  return {epilogue.accumulate || begin > 0, is_last ? epilogue.bias : nullptr};
}

// c [m, n] (+)= a x packed B: for each block of KC, panel after panel, tile after tile. With
// prefetch_panels, each panel is prefetched while the one before it is used: B is in L2 or beyond.
HWY_INLINE void GemmPanels(const RowsOut& c, const MatrixView& a, const float* packed,
                           const GemmSizes& sizes, const GemmOptions& options = {},
                           bool prefetch_panels = false) {
  const auto [m, n, k] = sizes;
  const Index width = PanelWidth(), num_tiles = quotient_up(m, mr);
  Prefetcher prefetcher(options.prefetch, num_tiles * quotient_up(n, width) * quotient_up(k, kc));
  Index begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const Index depth = std::min(kc, k - begin);
    const BlockOfA block = TakeBlockOfA(a, m, begin, depth, options.pack_a);
    const Epilogue epilogue = BlockEpilogue(options.epilogue, begin, begin + depth >= k);
    for (Index column = 0; column < n; column += width) {
      const RowsView panel{packed + column * k + begin * width, width};
      const bool is_rightmost = column + width >= n;
      const Index next_depth = is_rightmost ? std::min(kc, k - begin - depth) : depth;
      const float* next_panel =
          is_rightmost ? packed + (begin + depth) * width : panel.data + width * k;
      Prefetcher panel_prefetcher({next_panel, prefetch_panels ? next_depth * width : 0},
                                  num_tiles);
      for (Index row = 0, rows; row < m; row += rows) {
        rows = block.rows(m - row);
        prefetcher.step();
        panel_prefetcher.step();
        GemmTile(rows, c.from(row, column), block.tile(row), panel, std::min(width, n - column),
                 depth, epilogue.from_column(column));
      }
    }
    begin += depth;
  } while (begin < k);
}

// The same for a B that is not packed: its rows can be read to the end of their last panel. Good
// when all rows of c are computed at once, so that a panel is read many times.
HWY_INLINE void GemmRowsOfB(const RowsOut& c, const MatrixView& a, const RowsView& b,
                            const GemmSizes& sizes, bool accumulate) {
  const auto [m, n, k] = sizes;
  const Index width = PanelWidth();
  for (Index column = 0; column < n; column += width) {
    for (Index begin = 0; begin < k; begin += kc) {
      const Index depth = std::min(kc, k - begin);
      for (Index row = 0, rows; row < m; row += rows) {
        rows = TileRows(m - row);
        const float* a_tile = a.data + row * a.row_stride + begin * a.col_stride;
        GemmTile(rows, c.from(row, column), {a_tile, a.row_stride, a.col_stride},
                 b.from(begin, column), std::min(width, n - column), depth,
                 {accumulate || begin > 0, nullptr});
      }
    }
  }
}

// Packs B [k, n], one of whose strides is 1, in panels.
HWY_INLINE void PackPanels(float* packed, const MatrixView& b, Index n, Index k) {
  const Index width = PanelWidth();
  for (Index column = 0; column < n; column += width) {
    const Index columns = std::min(width, n - column);
    float* panel = packed + column * k;
    if (b.col_stride == 1 && columns == width) {
      const hn::ScalableTag<float> d;
      const Index lanes = hn::Lanes(d);
      for (Index i = 0; i < k; ++i) {
        const float* row = b.data + i * b.row_stride + column;
        hn::Store(hn::LoadU(d, row), d, panel + i * width);
        hn::Store(hn::LoadU(d, row + lanes), d, panel + i * width + lanes);
      }
    } else if (b.col_stride == 1) {
      for (Index i = 0; i < k; ++i) {
        const float* row = b.data + i * b.row_stride + column;
        for (Index j = 0; j < columns; ++j) panel[i * width + j] = row[j];
        for (Index j = columns; j < width; ++j) panel[i * width + j] = 0;
      }
    } else {
      TransposePadded(panel, width, b.data + column * b.col_stride, b.col_stride, columns, k);
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
