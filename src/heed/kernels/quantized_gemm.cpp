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

constexpr Index word = sizeof(std::int32_t);

// Prefetching half as far ahead was slower or no faster.

class Int8Reader {
 public:
  static constexpr Index chunk_bytes = chunk * width;
  static constexpr Index bytes_ahead = 2048;
  static constexpr int max_rows_without_prefetch = 0;

  HWY_INLINE void Start(const std::uint8_t* panel, Index begin) {
    const auto* scales = reinterpret_cast<const float*>(panel);
    first_scale_ = hn::LoadU(FloatTag(), scales);
    second_scale_ = hn::LoadU(FloatTag(), scales + lanes);
    at_ = reinterpret_cast<const std::int8_t*>(panel + width * word) + begin * width;
  }
  HWY_INLINE void StartGroup() {}
  HWY_INLINE void StartChunk() {}
  HWY_INLINE void Next(int /*step*/, Floats& first, Floats& second) {
    first = hn::Mul(ToFloats(at_), first_scale_);
    second = hn::Mul(ToFloats(at_ + lanes), second_scale_);
    at_ += width;
  }

 private:
  static HWY_INLINE Floats ToFloats(const std::int8_t* from) {
    const hn::Rebind<std::int8_t, FloatTag> bytes;
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), hn::LoadU(bytes, from)));
  }

  const std::int8_t* at_;
  Floats first_scale_, second_scale_;
};

class Int4Reader {
 public:
  static constexpr Index chunk_bytes = width * word;
  static constexpr Index bytes_ahead = 4096;
  static constexpr int max_rows_without_prefetch = 0;
  static constexpr Index group_bytes = (1 + int4_group / chunk) * width * word;

  HWY_INLINE void Start(const std::uint8_t* panel, Index begin) {
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
    first = hn::Mul(ToFloats(first_words_, place), first_scale_);
    second = hn::Mul(ToFloats(second_words_, place), second_scale_);
  }

 private:
  // So many numbers of four bits lie within the mantissa of a float.
  static constexpr int places = 5;

  // Bits of a mantissa under an exponent that makes the lowest of the four count 1 are a power of
  // two + number + 8. Two instructions in all, where shifting, extending the sign and converting
  // would be three.
  static HWY_INLINE Floats ToFloats(Ints words, int place) {
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

// The numbers of `depth` k from `begin` on, a multiple of KC: [depth, width].
template <class Reader>
HWY_INLINE void DequantizePanel(float* HWY_RESTRICT to, const std::uint8_t* panel, Index begin,
                                Index depth) {
  Reader reader;
  reader.Start(panel, begin);
  for (Index l = 0; l < depth; l += chunk) {
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

// For more rows: a block of a panel is dequantized into L1 and multiplied as floats.
template <class Reader>
HWY_INLINE void MultiplyDequantized(const StreamC& c, const RowsView& a, const PanelsView& packed,
                                    const GemmSizes& sizes) {
  HWY_ALIGN float panel[kc * width];
  Index begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const Index depth = std::min(kc, sizes.k - begin);
    const Epilogue epilogue = BlockEpilogue({false, c.bias}, begin, begin + depth >= sizes.k);
    for (Index column = 0; column < c.columns; column += width) {
      DequantizePanel<Reader>(panel, packed.from(column / width).data, begin, depth);
      for (Index row = 0; row < sizes.m; row += mr) {
        GemmTile(std::min<Index>(mr, sizes.m - row), c.rows.from(row, column), a.from(row, begin),
                 {panel, width}, std::min(width, c.columns - column), depth,
                 epilogue.from_column(column));
      }
    }
    begin += depth;
  } while (begin < sizes.k);
}

template <class Reader>
HWY_INLINE void Multiply(const StreamC& c, const RowsView& a, const PanelsView& packed,
                         const GemmSizes& sizes) {
  if (sizes.m > max_stream_rows) return MultiplyDequantized<Reader>(c, a, packed, sizes);
  StreamRows<Reader>(c, a, packed, sizes);
}

template <class Reader>
HWY_INLINE void DequantizeColumn(float* row, const std::uint8_t* panel, Index j, Index k) {
  HWY_ALIGN float block[kc * width];
  for (Index begin = 0; begin < k; begin += kc) {
    const Index depth = std::min(kc, k - begin);
    DequantizePanel<Reader>(block, panel, begin, depth);
    for (Index l = 0; l < depth; ++l) row[begin + l] = block[l * width + j];
  }
}

void QuantizedGemm(const RowsOut& c, const RowsView& a, const QuantizedView& weight,
                   Index panel_bytes, const GemmSizes& sizes, const float* bias) {
  const StreamC to{c, sizes.n, bias};
  const PanelsView packed{weight.packed, panel_bytes};
  switch (weight.format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not quantized
    case WeightFormat::f16:
      return Multiply<PlainReader<hwy::float16_t>>(to, a, packed, sizes);
    case WeightFormat::bf16:
      return Multiply<PlainReader<hwy::bfloat16_t>>(to, a, packed, sizes);
    case WeightFormat::int8:
      return Multiply<Int8Reader>(to, a, packed, sizes);
    case WeightFormat::int4:
      return Multiply<Int4Reader>(to, a, packed, sizes);
  }
}

// Row j of a panel.
void DequantizeRow(float* row, WeightFormat format, const std::uint8_t* panel, Index j, Index k) {
  switch (format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not quantized
    case WeightFormat::f16:
      return DequantizeColumn<PlainReader<hwy::float16_t>>(row, panel, j, k);
    case WeightFormat::bf16:
      return DequantizeColumn<PlainReader<hwy::bfloat16_t>>(row, panel, j, k);
    case WeightFormat::int8:
      return DequantizeColumn<Int8Reader>(row, panel, j, k);
    case WeightFormat::int4:
      return DequantizeColumn<Int4Reader>(row, panel, j, k);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(QuantizedGemm);
HWY_EXPORT(DequantizeRow);

void dequantize_row(float* row, const QuantizedView& weight, Index j, Index k) noexcept {
  assert(weight.format != WeightFormat::f32);
  const Index width = gemm_panel_width();
  const std::uint8_t* panel =
      weight.packed + quantized_packed_bytes(weight.format, k, j / width * width);
  HWY_DYNAMIC_DISPATCH(DequantizeRow)(row, weight.format, panel, j % width, k);
}

void quantized_gemm(RowsOut c, RowsView a, const QuantizedView& weight, const GemmSizes& sizes,
                    const float* bias) noexcept {
  assert(weight.format != WeightFormat::f32);
  const Index panel_bytes = quantized_packed_bytes(weight.format, sizes.k, gemm_panel_width());
  HWY_DYNAMIC_DISPATCH(QuantizedGemm)(c, a, weight, panel_bytes, sizes, bias);
}

}  // namespace heed::kernels
#endif
