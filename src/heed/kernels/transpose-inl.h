// Rows that become columns, in registers; compiled once per instruction set.
#if defined(HEED_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TRANSPOSE_INL_H_
#undef HEED_KERNELS_TRANSPOSE_INL_H_
#else
#define HEED_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "heed/base/index.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // whose vectors have one lane, and nothing to interleave

// Four floats of every fourth row, side by side in one vector. row(r) is where row r begins.
template <class D, class Row>
HWY_INLINE hn::Vec<D> LoadFours(D d, Row row, int first) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, row(first));
  } else {
    const hn::Half<D> half;
    constexpr int rows = hn::MaxLanes(half);
    return hn::Combine(d, LoadFours(half, row, first + rows), LoadFours(half, row, first));
  }
}

// columns[i] holds element i of as many rows as a vector has lanes, for four elements.
template <class Row>
HWY_INLINE void TransposeFours(Row row, hn::Vec<hn::ScalableTag<float>> (&columns)[4]) {
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  // Four neighbouring rows meet in each block of 128 bits.
  const auto r0 = LoadFours(d, row, 0), r1 = LoadFours(d, row, 1);
  const auto r2 = LoadFours(d, row, 2), r3 = LoadFours(d, row, 3);
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  columns[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
  columns[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
  columns[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
  columns[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
}

#endif

// to(i, j) = from(j, i) for j in [0, rows), and 0 for j in [rows, padded_rows): `to` is
// [columns, padded_rows] and aligned, padded_rows a multiple of the vectors' lanes.
HWY_INLINE void TransposePadded(float* HWY_RESTRICT to, Index padded_rows,
                                const float* HWY_RESTRICT from, Index stride, Index rows,
                                Index columns) {
  const hn::ScalableTag<float> d;
  const Index lanes = hn::Lanes(d);
  for (Index first = 0; first < padded_rows; first += lanes) {
    const float* block = from + first * stride;
    const Index here = std::clamp<Index>(rows - first, 0, lanes);
    Index i = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; here > 0 && i + 4 <= columns; i += 4) {
      hn::Vec<decltype(d)> four[4];
      if (here == lanes) {
        TransposeFours([=](int r) HWY_ATTR { return block + r * stride + i; }, four);
      } else {  // the last row stands in for those that are not there
        const auto is_row = hn::FirstN(d, static_cast<std::size_t>(here));
        TransposeFours([=](int r)
                           HWY_ATTR { return block + std::min<Index>(r, here - 1) * stride + i; },
                       four);
        for (auto& column : four) column = hn::IfThenElseZero(is_row, column);
      }
      for (int c = 0; c < 4; ++c) hn::Store(four[c], d, to + (i + c) * padded_rows + first);
    }
#endif
    for (; i < columns; ++i) {
      float* column = to + i * padded_rows + first;
      for (Index j = 0; j < here; ++j) column[j] = block[j * stride + i];
      for (Index j = here; j < lanes; ++j) column[j] = 0;
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
