#include "heed/kernels/quantized_pack.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "heed/base/index.h"
#include "heed/kernels/gemm.h"

namespace heed::kernels {
namespace {

constexpr Index word_bytes = 4;  // of a scale, and of eight numbers of int4
constexpr Index word_numbers = 8;

// Whole words, so that the scales of the next panel are aligned as floats are.
Index panel_bytes(WeightFormat format, Index k) {
  const Index width = gemm_panel_width();
  const Index scales = weight_row_scales(format, k) * word_bytes;
  if (format == WeightFormat::int4) {
    return width * (scales + quotient_up(k, word_numbers) * word_bytes);
  }
  return round_up(width * (scales + weight_row_bytes(format, k)), word_bytes);
}

// Puts rows of the weight into their column of a panel. A column that gets none holds zeros.
class PanelWriter {
 public:
  PanelWriter(std::uint8_t* panel, WeightFormat format, Index k)
      : panel_(panel), format_(format), k_(k), width_(gemm_panel_width()) {
    std::memset(panel, 0, panel_bytes(format, k));
  }

  void write(Index j, const std::uint8_t* row, const float* scales) {
    switch (format_) {
      case WeightFormat::f32:
        break;
      case WeightFormat::f16:
      case WeightFormat::bf16:
        return write_numbers<2>(panel_, j, row);
      case WeightFormat::int8:
        std::memcpy(panel_ + j * word_bytes, scales, word_bytes);
        return write_numbers<1>(panel_ + width_ * word_bytes, j, row);
      case WeightFormat::int4:
        return write_groups(j, row, scales);
    }
  }

 private:
  template <Index bytes>
  void write_numbers(std::uint8_t* to, Index j, const std::uint8_t* row) {
    for (Index i = 0; i < k_; ++i) {
      std::memcpy(to + (i * width_ + j) * bytes, row + i * bytes, bytes);
    }
  }

  void write_groups(Index j, const std::uint8_t* row, const float* scales) {
    std::uint8_t* to = panel_ + j * word_bytes;
    for (Index begin = 0; begin < k_; begin += word_numbers) {
      if (begin % int4_group == 0) {
        std::memcpy(to, scales + begin / int4_group, word_bytes);
        to += width_ * word_bytes;
      }
      std::uint32_t bits = 0;
      const Index end = std::min(begin + word_numbers, k_);
      for (Index i = begin; i < end; ++i) {
        const std::uint32_t raised = row[i / 2] >> (i % 2 * 4) & 15u;
        bits |= raised << 4 * (i - begin);
      }
      std::memcpy(to, &bits, word_bytes);
      to += width_ * word_bytes;
    }
  }

  std::uint8_t* panel_;
  WeightFormat format_;
  Index k_, width_;
};

}  // namespace

Index quantized_packed_bytes(WeightFormat format, Index k, Index n) noexcept {
  return quotient_up(n, gemm_panel_width()) * panel_bytes(format, k);
}

void pack_quantized(std::uint8_t* packed, WeightFormat format, const std::uint8_t* rows,
                    const float* scales, Index k, Index n) noexcept {
  assert(format != WeightFormat::f32);
  const Index width = gemm_panel_width();
  for (Index first = 0; first < n; first += width) {
    PanelWriter panel(packed + quantized_packed_bytes(format, k, first), format, k);
    for (Index j = first; j < std::min(first + width, n); ++j) {
      panel.write(j - first, rows + j * weight_row_bytes(format, k),
                  scales + j * weight_row_scales(format, k));
    }
  }
}

}  // namespace heed::kernels
