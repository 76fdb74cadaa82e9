#include "heed/kernels/quantized_gemm.h"

#include <cassert>

#include "heed/kernels/gemm.h"
#include "heed/kernels/quantized_pack.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/quantized_gemm.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/stream_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;
using Ints = hn::Vec<IntTag>;

constexpr std::int64_t word = sizeof(std::int32_t);

// Asking half as far ahead was slower or no faster.

class Int8Reader {
 public:
  static constexpr std::int64_t chunk_bytes = chunk * width;
  static constexpr std::int64_t bytes_ahead = 2048;
  static constexpr int quiet_rows = 0;

  HWY_INLINE void Start(const std::uint8_t* panel, std::int64_t begin) {
    const auto* scales = reinterpret_cast<const float*>(panel);
    first_scale_ = hn::LoadU(FloatTag(), scales);
    second_scale_ = hn::LoadU(FloatTag(), scales + lanes);
    at_ = reinterpret_cast<const std::int8_t*>(panel + width * word) + begin * width;
  }
  HWY_INLINE void StartGroup() {}
  HWY_INLINE void StartChunk() {}
  HWY_INLINE void Next(int /*step*/, Floats& first, Floats& second) {
    first = hn::Mul(Widened(at_), first_scale_);
    second = hn::Mul(Widened(at_ + lanes), second_scale_);
    at_ += width;
  }

 private:
  static HWY_INLINE Floats Widened(const std::int8_t* from) {
    const hn::Rebind<std::int8_t, FloatTag> bytes;
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), hn::LoadU(bytes, from)));
  }

  const std::int8_t* at_;
  Floats first_scale_, second_scale_;
};

class Int4Reader {
 public:
  static constexpr std::int64_t chunk_bytes = width * word;
  static constexpr std::int64_t bytes_ahead = 4096;
  static constexpr int quiet_rows = 0;
  static constexpr std::int64_t group_bytes = (1 + int4_group / chunk) * width * word;

  HWY_INLINE void Start(const std::uint8_t* panel, std::int64_t begin) {
    at_ = panel + begin / int4_group * group_bytes;
    first_scale_ = second_scale_ = hn::Zero(FloatTag());
    first_words_ = second_words_ = hn::Zero(IntTag());
  }
  HWY_INLINE void StartGroup() {
    const auto* scales = reinterpret_cast<const float*>(at_);
    first_scale_ = hn::LoadU(FloatTag(), scales);
    second_scale_ = hn::LoadU(FloatTag(), scales + lanes);
    at_ += width * word;
  }
  HWY_INLINE void StartChunk() {
    const auto* words = reinterpret_cast<const std::int32_t*>(at_);
    first_words_ = hn::LoadU(IntTag(), words);
    second_words_ = hn::LoadU(IntTag(), words + lanes);
    at_ += width * word;
  }
  HWY_INLINE void Next(int step, Floats& first, Floats& second) {
    if (step == places) {
      first_words_ = hn::ShiftRight<4 * places>(first_words_);
      second_words_ = hn::ShiftRight<4 * places>(second_words_);
    }
    const int place = step % places;
    first = hn::Mul(Widened(first_words_, place), first_scale_);
    second = hn::Mul(Widened(second_words_, place), second_scale_);
  }

 private:
  // So many numbers of four bits lie within the mantissa of a float.
  static constexpr int places = 5;

  // Bits of a mantissa under an exponent that makes the lowest of the four count 1 are a power of
  // two + number + 8. Two instructions in all, where shifting, extending the sign and converting
  // would be three.
  static HWY_INLINE Floats Widened(Ints words, int place) {
    constexpr int mantissa_bits = 23, exponent_bias = 127;
    const int exponent = mantissa_bits - 4 * place;
    const Ints power = hn::Set(IntTag(), (exponent_bias + exponent) << mantissa_bits);
    const Ints raised = hn::OrAnd(power, words, hn::Set(IntTag(), 15 << 4 * place));
    return hn::Sub(hn::BitCast(FloatTag(), raised),
                   hn::Set(FloatTag(), static_cast<float>((1 << exponent) + 8)));
  }

  const std::uint8_t* at_;
  Floats first_scale_, second_scale_;
  Ints first_words_, second_words_;
};

template <class Reader>
HWY_INLINE void DequantizeStep(float* HWY_RESTRICT to, Reader& reader, int step) {
  Floats first, second;
  reader.Next(step, first, second);
  hn::Store(first, FloatTag(), to);
  hn::Store(second, FloatTag(), to + lanes);
}

// The numbers of `depth` k from `begin` on, a multiple of block_depth: [depth, width].
template <class Reader>
HWY_INLINE void DequantizePanel(float* HWY_RESTRICT to, const std::uint8_t* panel,
                                std::int64_t begin, std::int64_t depth) {
  Reader reader;
  reader.Start(panel, begin);
  for (std::int64_t l = 0; l < depth; l += chunk) {
    if (l % int4_group == 0) reader.StartGroup();
    reader.StartChunk();
    if (depth - l >= chunk) {
#pragma GCC unroll 8
      for (int step = 0; step < chunk; ++step)
        DequantizeStep(to + (l + step) * width, reader, step);
    } else {
#pragma GCC unroll 1
      for (int step = 0; step < depth - l; ++step) {
        DequantizeStep(to + (l + step) * width, reader, step);
      }
    }
  }
}

// For more rows: a block of a panel is widened into the near cache and multiplied as floats.
template <class Reader>
HWY_INLINE void MultiplyDequantized(const StreamC& c, const float* a, std::int64_t a_stride,
                                    const std::uint8_t* packed, std::int64_t panel_bytes,
                                    std::int64_t m, std::int64_t k) {
  HWY_ALIGN float panel[block_depth * width];
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const std::int64_t depth = std::min(block_depth, k - begin);
    const bool is_last = begin + depth >= k;
    for (std::int64_t column = 0; column < c.columns; column += width) {
      DequantizePanel<Reader>(panel, packed + column / width * panel_bytes, begin, depth);
      const GemmStart start{begin > 0, is_last && c.bias ? c.bias + column : nullptr};
      for (std::int64_t row = 0; row < m; row += block_rows) {
        const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, m - row));
        GemmRows(rows, c.data + row * c.stride + column, c.stride, a + row * a_stride + begin,
                 a_stride, 1, panel, width, std::min(width, c.columns - column), depth, start);
      }
    }
    begin += depth;
  } while (begin < k);
}

template <class Reader>
HWY_INLINE void Multiply(const StreamC& c, const float* a, std::int64_t a_stride,
                         const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t m,
                         std::int64_t k) {
  if (m > max_stream_rows)
    return MultiplyDequantized<Reader>(c, a, a_stride, packed, panel_bytes, m, k);
  StreamRows<Reader>(c, a, a_stride, packed, panel_bytes, m, k);
}

template <class Reader>
HWY_INLINE void DequantizeVectors(float* row, const std::uint8_t* panel, std::int64_t j,
                                  std::int64_t k) {
  HWY_ALIGN float block[block_depth * width];
  for (std::int64_t begin = 0; begin < k; begin += block_depth) {
    const std::int64_t depth = std::min(block_depth, k - begin);
    DequantizePanel<Reader>(block, panel, begin, depth);
    for (std::int64_t l = 0; l < depth; ++l) row[begin + l] = block[l * width + j];
  }
}

void QuantizedGemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                   WeightFormat format, const std::uint8_t* packed, std::int64_t panel_bytes,
                   std::int64_t m, std::int64_t n, std::int64_t k, const float* bias) {
  const StreamC to{c, c_stride, n, bias};
  switch (format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not narrow
    case WeightFormat::f16:
      return Multiply<PlainReader<hwy::float16_t>>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::bf16:
      return Multiply<PlainReader<hwy::bfloat16_t>>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::int8:
      return Multiply<Int8Reader>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::int4:
      return Multiply<Int4Reader>(to, a, a_stride, packed, panel_bytes, m, k);
  }
}

// Row j of a panel.
void DequantizeRow(float* row, WeightFormat format, const std::uint8_t* panel, std::int64_t j,
                   std::int64_t k) {
  switch (format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not narrow
    case WeightFormat::f16:
      return DequantizeVectors<PlainReader<hwy::float16_t>>(row, panel, j, k);
    case WeightFormat::bf16:
      return DequantizeVectors<PlainReader<hwy::bfloat16_t>>(row, panel, j, k);
    case WeightFormat::int8:
      return DequantizeVectors<Int8Reader>(row, panel, j, k);
    case WeightFormat::int4:
      return DequantizeVectors<Int4Reader>(row, panel, j, k);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(QuantizedGemm);
HWY_EXPORT(DequantizeRow);

void dequantize_row(float* row, WeightFormat format, const std::uint8_t* packed, std::int64_t j,
                    std::int64_t k) noexcept {
  assert(format != WeightFormat::f32);
  const std::int64_t width = gemm_panel_width();
  HWY_DYNAMIC_DISPATCH(DequantizeRow)
  (row, format, packed + quantized_packed_bytes(format, k, j / width * width), j % width, k);
}

void quantized_gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                    WeightFormat format, const std::uint8_t* packed, std::int64_t m, std::int64_t n,
                    std::int64_t k, const float* bias) noexcept {
  assert(format != WeightFormat::f32);
  const std::int64_t panel_bytes = quantized_packed_bytes(format, k, gemm_panel_width());
  HWY_DYNAMIC_DISPATCH(QuantizedGemm)
  (c, c_stride, a, a_stride, format, packed, panel_bytes, m, n, k, bias);
}

}  // namespace heed::kernels
#endif
