#include "heed/kernels/gemm_few_rows.h"

#include "heed/kernels/cache_line.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm_few_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Where the products with one panel go.
struct FewRowsC {
  RowsOut rows;
  Epilogue epilogue;
};

#if HWY_TARGET != HWY_SCALAR

// The prefetch distance: a few lines of every row of B.
constexpr Index floats_ahead = 4 * line_floats;

// One panel's worth of rows of B that are transposed in registers and never stored: for so few rows
// of A that reading B is all that counts. k is a multiple of 4.
//
// A loop of its own, because a Reader of stream_panels-inl.h gives both halves of a panel for each
// k. Rows that are a multiple of a page apart share one set of L1, which does not hold the lines of
// all: so a line of each row of one half is used up before the other half is read.
template <int rows>
HWY_INLINE void StreamRowsOfB(const FewRowsC& c, const RowsView& a, const RowsView& b, Index k) {
  const hn::ScalableTag<float> d;
  constexpr Index lanes = hn::MaxLanes(d);
  const Index b_stride = b.stride;
  hn::Vec<decltype(d)> total[rows][2];
  for (int i = 0; i < rows; ++i) {
    for (int half = 0; half < 2; ++half) {
      const float* old = c.rows.row(i) + half * lanes;
      total[i][half] = c.epilogue.accumulate ? hn::LoadU(d, old) : hn::Zero(d);
    }
  }
  bool has_total = c.epilogue.accumulate;
  for (Index begin = 0; begin < k; begin += kc) {
    hn::Vec<decltype(d)> sum[rows][2];
    for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
    const Index end = std::min(begin + kc, k);
    for (Index l = begin; l < end; l += line_floats) {
      const Index ahead = l + floats_ahead;  // beyond the end of k: in the next panel
      const float* line = ahead < k ? b.data + ahead : b.data + 2 * lanes * b_stride + ahead - k;
      for (Index r = 0; r < 2 * lanes; ++r) hwy::Prefetch(line + r * b_stride);
      const Index line_end = std::min(l + line_floats, end);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        for (Index at = l; at < line_end; at += 4) {
          hn::Vec<decltype(d)> four[4];
          const float* from = b.data + half * lanes * b_stride + at;
          TransposeFours([=](int r) HWY_ATTR { return from + r * b_stride; }, four);
#pragma GCC unroll 4
          for (int step = 0; step < 4; ++step) {
#pragma GCC unroll 3
            for (int i = 0; i < rows; ++i) {
              const auto ai = hn::Set(d, a.row(i)[at + step]);
              sum[i][half] = hn::MulAdd(ai, four[step], sum[i][half]);
            }
          }
        }
      }
    }
    for (int i = 0; i < rows; ++i) {
      for (int half = 0; half < 2; ++half) {
        total[i][half] = has_total ? hn::Add(sum[i][half], total[i][half]) : sum[i][half];
      }
    }
    has_total = true;
  }
  for (int i = 0; i < rows; ++i) {
    for (int half = 0; half < 2; ++half) {
      auto result = total[i][half];
      if (c.epilogue.bias) {
        result = hn::Add(result, hn::LoadU(d, c.epilogue.bias + half * lanes));
      }
      hn::StoreU(result, d, c.rows.row(i) + half * lanes);
    }
  }
}

#endif

// One panel's worth of rows of B by way of a packed block in L1.
HWY_INLINE void BlockPanel(const FewRowsC& c, const RowsView& a, const RowsView& b,
                           const GemmSizes& sizes) {
  constexpr Index width = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  HWY_ALIGN float panel[kc * width];
  Index begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const Index depth = std::min(kc, sizes.k - begin);
    TransposePadded(panel, width, b.data + begin, b.stride, sizes.n, depth);
    const Epilogue epilogue = BlockEpilogue(c.epilogue, begin, begin + depth >= sizes.k);
    for (Index row = 0; row < sizes.m; row += mr) {
      GemmTile(std::min<Index>(mr, sizes.m - row), c.rows.from(row), a.from(row, begin),
               {panel, width}, sizes.n, depth, epilogue);
    }
    begin += depth;
  } while (begin < sizes.k);
}

void GemmFewRows(const RowsOut& c, const RowsView& a, const RowsView& b, const GemmSizes& sizes,
                 const Epilogue& epilogue) {
  constexpr Index width = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  for (Index column = 0; column < sizes.n; column += width) {
    const Index columns = std::min(width, sizes.n - column);
    const FewRowsC here{c.from(0, column), epilogue.from_column(column)};
    const RowsView rows_of_b = b.from(column);
#if HWY_TARGET != HWY_SCALAR
    constexpr int max_rows = 3;
    if (sizes.m <= max_rows && columns == width && sizes.k > 0 && sizes.k % 4 == 0) {
      DispatchRows<max_rows>(sizes.m, [&]<int rows>() HEED_INLINE_LAMBDA {
        StreamRowsOfB<rows>(here, a, rows_of_b, sizes.k);
      });
      continue;
    }
#endif
    BlockPanel(here, a, rows_of_b, {sizes.m, columns, sizes.k});
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(GemmFewRows);

void gemm_few_rows(RowsOut c, RowsView a, RowsView b, const GemmSizes& sizes,
                   const Epilogue& epilogue) noexcept {
  if (sizes.m == 0) return;
  HWY_DYNAMIC_DISPATCH(GemmFewRows)(c, a, b, sizes, epilogue);
}

}  // namespace heed::kernels
#endif
