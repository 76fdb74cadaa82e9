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

Index PanelWidthHere() { return PanelWidth(); }

// And a vector that is read beyond the last tile.
Index PackASize(Index m) { return round_up(m, mr) * kc + line_floats; }

void Pack(float* packed, const MatrixView& b, Index k, Index n) { PackPanels(packed, b, n, k); }

void Gemm(const RowsOut& c, const MatrixView& a, const float* packed, const GemmSizes& sizes,
          const GemmOptions& options) {
  const auto& [accumulate, bias] = options.epilogue;
  if (sizes.m <= max_stream_rows && a.col_stride == 1 && !accumulate && !options.pack_a.scratch) {
    const PanelsView panels{reinterpret_cast<const std::uint8_t*>(packed),
                            sizes.k * width * Index{sizeof(float)}};
    return StreamRows<PlainReader<float>>({c, sizes.n, bias}, {a.data, a.row_stride}, panels,
                                          sizes);
  }
  // With few rows a panel is used too briefly to prefetch the next one meanwhile.
  constexpr Index few_rows = 8 * mr;
  GemmPanels(c, a, packed, sizes, options, /*prefetch_panels=*/sizes.m >= few_rows);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(PanelWidthHere);
HWY_EXPORT(PackASize);
HWY_EXPORT(Pack);
HWY_EXPORT(Gemm);

Index gemm_panel_width() noexcept { return HWY_DYNAMIC_DISPATCH(PanelWidthHere)(); }

Index gemm_packed_size(Index k, Index n) noexcept { return round_up(n, gemm_panel_width()) * k; }

Index gemm_pack_a_size(Index m) noexcept { return HWY_DYNAMIC_DISPATCH(PackASize)(m); }

void gemm_pack(float* packed, const MatrixView& b, Index k, Index n) noexcept {
  HWY_DYNAMIC_DISPATCH(Pack)(packed, b, k, n);
}

void gemm(RowsOut c, const MatrixView& a, const float* packed_b, const GemmSizes& sizes,
          const GemmOptions& options) noexcept {
  HWY_DYNAMIC_DISPATCH(Gemm)(c, a, packed_b, sizes, options);
}

Index gemm_row_stride(Index n) noexcept {
  const Index lines = quotient_up(round_up(n, gemm_panel_width()), line_floats);
  return (lines + (lines % 2 == 0)) * line_floats;
}

}  // namespace heed::kernels
#endif
