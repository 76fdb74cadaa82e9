#include "heed/kernels/gemm.h"

#include "heed/base/index.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/stream_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

std::int64_t PanelWidthHere() { return PanelWidth(); }

// And a vector that is read behind the last block.
std::int64_t GatheredSize(std::int64_t m) {
  return rounded_up(m, block_rows) * block_depth + line_floats;
}

void Pack(float* packed, const float* b, std::int64_t b_row, std::int64_t b_col, std::int64_t k,
          std::int64_t n) {
  PackPanels(packed, b, b_row, b_col, n, k);
}

void Gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row, std::int64_t a_col,
          const float* packed, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate,
          const float* bias, const Gathering& gathering, const ReadNext& next) {
  if (m <= max_stream_rows && a_col == 1 && !accumulate && !gathering.room) {
    return StreamRows<PlainReader<float>>({c, c_stride, n, bias}, a, a_row,
                                          reinterpret_cast<const std::uint8_t*>(packed),
                                          k * width * std::int64_t{sizeof(float)}, m, k);
  }
  // With few rows a panel is used too briefly to ask for the next one meanwhile.
  constexpr std::int64_t few_rows = 8 * block_rows;
  GemmPanels(c, c_stride, a, a_row, a_col, packed, m, n, k, accumulate, bias, gathering,
             {next, /*for_panels=*/m >= few_rows});
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(PanelWidthHere);
HWY_EXPORT(GatheredSize);
HWY_EXPORT(Pack);
HWY_EXPORT(Gemm);

std::int64_t gemm_panel_width() noexcept { return HWY_DYNAMIC_DISPATCH(PanelWidthHere)(); }

std::int64_t gemm_packed_size(std::int64_t k, std::int64_t n) noexcept {
  return rounded_up(n, gemm_panel_width()) * k;
}

void gemm_pack(float* packed, const float* b, std::int64_t b_row, std::int64_t b_col,
               std::int64_t k, std::int64_t n) noexcept {
  HWY_DYNAMIC_DISPATCH(Pack)(packed, b, b_row, b_col, k, n);
}

void gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row, std::int64_t a_col,
          const float* packed, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate,
          const float* bias, const Gathering& gathering, const ReadNext& next) noexcept {
  HWY_DYNAMIC_DISPATCH(Gemm)
  (c, c_stride, a, a_row, a_col, packed, m, n, k, accumulate, bias, gathering, next);
}

std::int64_t gemm_gathered_size(std::int64_t m) noexcept {
  return HWY_DYNAMIC_DISPATCH(GatheredSize)(m);
}

std::int64_t gemm_row_stride(std::int64_t n) noexcept {
  const std::int64_t lines = quotient_up(rounded_up(n, gemm_panel_width()), line_floats);
  return (lines + (lines % 2 == 0)) * line_floats;
}

}  // namespace heed::kernels
#endif
