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

// Where c begins and ends: what GemmStart says, for all of k.
struct FewRowsC {
  float* data;
  std::int64_t stride;
  bool accumulate;
  const float* bias;  // or null
};

#if HWY_TARGET != HWY_SCALAR

// How far ahead of the sums memory is asked for: a few lines of every row of b.
constexpr std::int64_t floats_ahead = 4 * line_floats;

// One panel's worth of rows of b that are turned in registers and never stored: for so few rows of
// a that reading b is all that counts. k is a multiple of 4.
template <int rows>
HWY_INLINE void StreamPanel(const FewRowsC& c, const float* a, std::int64_t a_stride,
                            const float* b, std::int64_t b_stride, std::int64_t k) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  hn::Vec<decltype(d)> total[rows][2];
  for (int i = 0; i < rows; ++i) {
    for (int half = 0; half < 2; ++half) {
      const float* old = c.data + i * c.stride + half * lanes;
      total[i][half] = c.accumulate ? hn::LoadU(d, old) : hn::Zero(d);
    }
  }
  bool has_total = c.accumulate;
  for (std::int64_t begin = 0; begin < k; begin += block_depth) {
    hn::Vec<decltype(d)> sum[rows][2];
    for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
    const std::int64_t end = std::min(begin + block_depth, k);
    for (std::int64_t l = begin; l < end; l += line_floats) {
      const std::int64_t ahead = l + floats_ahead;  // behind the end of k: in the next panel
      const float* soon = ahead < k ? b + ahead : b + 2 * lanes * b_stride + ahead - k;
      for (std::int64_t r = 0; r < 2 * lanes; ++r) hwy::Prefetch(soon + r * b_stride);
      // A whole line of some rows, then of the others: where rows are a multiple of a page apart,
      // the lines of all would not stay in the near cache together.
      const std::int64_t line_end = std::min(l + line_floats, end);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        for (std::int64_t at = l; at < line_end; at += 4) {
          hn::Vec<decltype(d)> four[4];
          TransposeFours([=](int r) HWY_ATTR { return b + (half * lanes + r) * b_stride + at; },
                         four);
#pragma GCC unroll 4
          for (int step = 0; step < 4; ++step) {
#pragma GCC unroll 3
            for (int i = 0; i < rows; ++i) {
              const auto ai = hn::Set(d, a[i * a_stride + at + step]);
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
      if (c.bias) result = hn::Add(result, hn::LoadU(d, c.bias + half * lanes));
      hn::StoreU(result, d, c.data + i * c.stride + half * lanes);
    }
  }
}

#endif

// One panel's worth of rows of b by way of a packed block in the near cache.
HWY_INLINE void BlockPanel(const FewRowsC& c, const float* a, std::int64_t a_stride, const float* b,
                           std::int64_t b_stride, std::int64_t m, std::int64_t columns,
                           std::int64_t k) {
  constexpr std::int64_t width = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  HWY_ALIGN float panel[block_depth * width];
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const std::int64_t depth = std::min(block_depth, k - begin);
    const bool is_last = begin + depth >= k;
    TransposePadded(panel, width, b + begin, b_stride, columns, depth);
    const GemmStart start{c.accumulate || begin > 0, is_last ? c.bias : nullptr};
    for (std::int64_t row = 0; row < m; row += block_rows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, m - row));
      GemmRows(rows, c.data + row * c.stride, c.stride, a + row * a_stride + begin, a_stride, 1,
               panel, width, columns, depth, start);
    }
    begin += depth;
  } while (begin < k);
}

void GemmFewRows(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                 const float* b, std::int64_t b_stride, std::int64_t m, std::int64_t n,
                 std::int64_t k, bool accumulate, const float* bias) {
  constexpr std::int64_t width = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  for (std::int64_t column = 0; column < n; column += width) {
    const std::int64_t columns = std::min(width, n - column);
    const FewRowsC here{c + column, c_stride, accumulate, bias ? bias + column : nullptr};
    const float* rows_of_b = b + column * b_stride;
#if HWY_TARGET != HWY_SCALAR
    if (m <= 3 && columns == width && k > 0 && k % 4 == 0) {
      if (m == 1) StreamPanel<1>(here, a, a_stride, rows_of_b, b_stride, k);
      if (m == 2) StreamPanel<2>(here, a, a_stride, rows_of_b, b_stride, k);
      if (m == 3) StreamPanel<3>(here, a, a_stride, rows_of_b, b_stride, k);
      continue;
    }
#endif
    BlockPanel(here, a, a_stride, rows_of_b, b_stride, m, columns, k);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(GemmFewRows);

void gemm_few_rows(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                   const float* b, std::int64_t b_stride, std::int64_t m, std::int64_t n,
                   std::int64_t k, bool accumulate, const float* bias) noexcept {
  HWY_DYNAMIC_DISPATCH(GemmFewRows)
  (c, c_stride, a, a_stride, b, b_stride, m, n, k, accumulate, bias);
}

}  // namespace heed::kernels
#endif
