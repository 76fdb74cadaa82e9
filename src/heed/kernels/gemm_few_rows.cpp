#include "heed/kernels/gemm_few_rows.h"

#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm_few_rows.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

void GemmFewRows(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                 const float* b, std::int64_t b_stride, std::int64_t m, std::int64_t n,
                 std::int64_t k, bool accumulate, const float* bias) {
  constexpr std::int64_t width = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  HWY_ALIGN float panel[block_depth * width];
  for (std::int64_t column = 0; column < n; column += width) {
    const std::int64_t columns = std::min(width, n - column);
    std::int64_t begin = 0;
    do {  // once even for k = 0, which gives zeros or the bias
      const std::int64_t depth = std::min(block_depth, k - begin);
      const bool is_last = begin + depth >= k;
      TransposePadded(panel, width, b + column * b_stride + begin, b_stride, columns, depth);
      const GemmStart start{accumulate || begin > 0, is_last && bias ? bias + column : nullptr};
      for (std::int64_t row = 0; row < m; row += block_rows) {
        const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, m - row));
        GemmRows(rows, c + row * c_stride + column, c_stride, a + row * a_stride + begin, a_stride,
                 1, panel, width, columns, depth, start);
      }
      begin += depth;
    } while (begin < k);
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
