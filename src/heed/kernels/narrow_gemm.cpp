#include "heed/kernels/narrow_gemm.h"

#include <cassert>

#include "heed/kernels/gemm.h"
#include "heed/kernels/narrow_pack.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/narrow_gemm.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using Floats = hn::Vec<FloatTag>;
using Ints = hn::Vec<IntTag>;

constexpr std::int64_t lanes = hn::MaxLanes(FloatTag());
constexpr std::int64_t width = 2 * lanes;  // of a panel, in numbers
constexpr std::int64_t chunk = 8;          // k that are read between two looks at the format
constexpr std::int64_t word = sizeof(std::int32_t);

// Readers give a panel as floats, from a multiple of block_depth on: Start, then StartGroup before
// every int4_group k and StartChunk before every chunk, then Next for each k, which is told the
// place of the k in its chunk: a constant where the loop over a chunk is unrolled. bytes_ahead is
// how far ahead of the sums memory is asked for in a panel; half as much was slower or no faster.
// Halves come without being asked for: their arithmetic is so short that asking is in the way.

template <class Half>  // hwy::float16_t or hwy::bfloat16_t
class HalfReader {
 public:
  static constexpr std::int64_t chunk_bytes = chunk * width * sizeof(Half);
  static constexpr std::int64_t bytes_ahead = 0;

  HWY_INLINE void Start(const std::uint8_t* panel, std::int64_t begin) {
    at_ = reinterpret_cast<const Half*>(panel) + begin * width;
  }
  HWY_INLINE void StartGroup() {}
  HWY_INLINE void StartChunk() {}
  HWY_INLINE void Next(int /*step*/, Floats& first, Floats& second) {
    const hn::Rebind<Half, FloatTag> half;
    first = hn::PromoteTo(FloatTag(), hn::LoadU(half, at_));
    second = hn::PromoteTo(FloatTag(), hn::LoadU(half, at_ + lanes));
    at_ += width;
  }

 private:
  const Half* at_;
};

class Int8Reader {
 public:
  static constexpr std::int64_t chunk_bytes = chunk * width;
  static constexpr std::int64_t bytes_ahead = 2048;

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

// Where the results of some panels go.
struct NarrowC {
  float* data;
  std::int64_t stride;
  std::int64_t columns;  // of these panels
  const float* bias;     // or null
};

// The products of one k, at `step` of its chunk; a is where it is in the first row.
template <class Reader, int rows, int panels>
HWY_INLINE void AddStep(Floats (&sum)[rows][2 * panels], Reader (&readers)[panels], int step,
                        const float* HWY_RESTRICT a, std::int64_t a_stride) {
#pragma GCC unroll 2
  for (int p = 0; p < panels; ++p) {
    Floats first, second;
    readers[p].Next(step, first, second);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Floats ai = hn::Set(FloatTag(), a[i * a_stride]);
      sum[i][2 * p] = hn::MulAdd(ai, first, sum[i][2 * p]);
      sum[i][2 * p + 1] = hn::MulAdd(ai, second, sum[i][2 * p + 1]);
    }
  }
}

HWY_INLINE void StoreRow(const NarrowC& c, std::int64_t row, std::int64_t column, Floats sum) {
  const FloatTag d;
  float* to = c.data + row * c.stride + column;
  if (column + lanes <= c.columns) {
    if (c.bias) sum = hn::Add(sum, hn::LoadU(d, c.bias + column));
    hn::StoreU(sum, d, to);
    return;
  }
  HWY_ALIGN float tile[lanes];
  hn::Store(sum, d, tile);
  for (std::int64_t j = 0; j < c.columns - column; ++j) {
    to[j] = c.bias ? tile[j] + c.bias[column + j] : tile[j];
  }
}

// Asks for the chunks of k from l on, of all panels, so far ahead as the reader wants it.
template <class Reader, int panels>
HWY_INLINE void AskAhead(const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t l) {
  constexpr std::int64_t line = 64;
  if constexpr (Reader::bytes_ahead > 0) {
    const std::int64_t ahead = l / chunk * Reader::chunk_bytes + Reader::bytes_ahead;
    // Behind the end of a panel: in the one that comes after these.
    packed += ahead + (ahead < panel_bytes ? 0 : (panels - 1) * panel_bytes);
    for (int p = 0; p < panels; ++p) {
      for (std::int64_t byte = 0; byte < Reader::chunk_bytes; byte += line) {
        hwy::Prefetch(packed + p * panel_bytes + byte);
      }
    }
  }
}

// For so few rows of a that reading the weight is all that counts: the widened numbers live in
// registers only. The order of each sum is that of GemmPanels: blocks of k, added one by one.
template <class Reader, int rows, int panels>
HWY_INLINE void StreamPanels(const NarrowC& c, const float* a, std::int64_t a_stride,
                             const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t k) {
  Reader readers[panels];
  for (int p = 0; p < panels; ++p) readers[p].Start(packed + p * panel_bytes, 0);
  Floats total[rows][2 * panels];
  for (auto& row : total) {
    for (Floats& part : row) part = hn::Zero(FloatTag());
  }
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    Floats sum[rows][2 * panels];
    for (auto& row : sum) {
      for (Floats& part : row) part = hn::Zero(FloatTag());
    }
    const std::int64_t end = std::min(begin + block_depth, k);
    for (std::int64_t l = begin; l < end; l += chunk) {
      AskAhead<Reader, panels>(packed, panel_bytes, l);
      for (int p = 0; p < panels; ++p) {
        if (l % int4_group == 0) readers[p].StartGroup();
        readers[p].StartChunk();
      }
      if (end - l >= chunk) {
#pragma GCC unroll 8
        for (int step = 0; step < chunk; ++step) {
          AddStep<Reader, rows, panels>(sum, readers, step, a + l + step, a_stride);
        }
      } else {
#pragma GCC unroll 1
        for (int step = 0; step < end - l; ++step) {
          AddStep<Reader, rows, panels>(sum, readers, step, a + l + step, a_stride);
        }
      }
    }
    for (int i = 0; i < rows; ++i) {
      for (int part = 0; part < 2 * panels; ++part) {
        total[i][part] = begin == 0 ? sum[i][part] : hn::Add(sum[i][part], total[i][part]);
      }
    }
    begin = end;
  } while (begin < k);
  for (int i = 0; i < rows; ++i) {
    for (int part = 0; part < 2 * panels; ++part) StoreRow(c, i, part * lanes, total[i][part]);
  }
}

template <class Reader>
HWY_INLINE void WidenStep(float* HWY_RESTRICT to, Reader& reader, int step) {
  Floats first, second;
  reader.Next(step, first, second);
  hn::Store(first, FloatTag(), to);
  hn::Store(second, FloatTag(), to + lanes);
}

// The numbers of `depth` k from `begin` on, a multiple of block_depth: [depth, width].
template <class Reader>
HWY_INLINE void WidenPanel(float* HWY_RESTRICT to, const std::uint8_t* panel, std::int64_t begin,
                           std::int64_t depth) {
  Reader reader;
  reader.Start(panel, begin);
  for (std::int64_t l = 0; l < depth; l += chunk) {
    if (l % int4_group == 0) reader.StartGroup();
    reader.StartChunk();
    if (depth - l >= chunk) {
#pragma GCC unroll 8
      for (int step = 0; step < chunk; ++step) WidenStep(to + (l + step) * width, reader, step);
    } else {
#pragma GCC unroll 1
      for (int step = 0; step < depth - l; ++step) {
        WidenStep(to + (l + step) * width, reader, step);
      }
    }
  }
}

// For more rows: a block of a panel is widened into the near cache and multiplied as floats.
template <class Reader>
HWY_INLINE void MultiplyWidened(const NarrowC& c, const float* a, std::int64_t a_stride,
                                const std::uint8_t* packed, std::int64_t panel_bytes,
                                std::int64_t m, std::int64_t k) {
  HWY_ALIGN float panel[block_depth * width];
  std::int64_t begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    const std::int64_t depth = std::min(block_depth, k - begin);
    const bool is_last = begin + depth >= k;
    for (std::int64_t column = 0; column < c.columns; column += width) {
      WidenPanel<Reader>(panel, packed + column / width * panel_bytes, begin, depth);
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

// One row of a keeps two panels' sums at once: those of one are too few to hide the latency of the
// multiply-adds.
template <class Reader>
HWY_INLINE void Multiply(const NarrowC& c, const float* a, std::int64_t a_stride,
                         const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t m,
                         std::int64_t k) {
  if (m > 4) return MultiplyWidened<Reader>(c, a, a_stride, packed, panel_bytes, m, k);
  for (std::int64_t column = 0; column < c.columns;) {
    const std::uint8_t* panel = packed + column / width * panel_bytes;
    const std::int64_t columns = m == 1 ? 2 * width : width;
    const NarrowC here{c.data + column, c.stride, std::min(columns, c.columns - column),
                       c.bias ? c.bias + column : nullptr};
    if (m == 1 && here.columns > width)
      StreamPanels<Reader, 1, 2>(here, a, a_stride, panel, panel_bytes, k);
    if (m == 1 && here.columns <= width)
      StreamPanels<Reader, 1, 1>(here, a, a_stride, panel, panel_bytes, k);
    if (m == 2) StreamPanels<Reader, 2, 1>(here, a, a_stride, panel, panel_bytes, k);
    if (m == 3) StreamPanels<Reader, 3, 1>(here, a, a_stride, panel, panel_bytes, k);
    if (m == 4) StreamPanels<Reader, 4, 1>(here, a, a_stride, panel, panel_bytes, k);
    column += columns;
  }
}

template <class Reader>
HWY_INLINE void WidenRow(float* row, const std::uint8_t* panel, std::int64_t j, std::int64_t k) {
  HWY_ALIGN float block[block_depth * width];
  for (std::int64_t begin = 0; begin < k; begin += block_depth) {
    const std::int64_t depth = std::min(block_depth, k - begin);
    WidenPanel<Reader>(block, panel, begin, depth);
    for (std::int64_t l = 0; l < depth; ++l) row[begin + l] = block[l * width + j];
  }
}

void NarrowGemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                WeightFormat format, const std::uint8_t* packed, std::int64_t panel_bytes,
                std::int64_t m, std::int64_t n, std::int64_t k, const float* bias) {
  const NarrowC to{c, c_stride, n, bias};
  switch (format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not narrow
    case WeightFormat::f16:
      return Multiply<HalfReader<hwy::float16_t>>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::bf16:
      return Multiply<HalfReader<hwy::bfloat16_t>>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::int8:
      return Multiply<Int8Reader>(to, a, a_stride, packed, panel_bytes, m, k);
    case WeightFormat::int4:
      return Multiply<Int4Reader>(to, a, a_stride, packed, panel_bytes, m, k);
  }
}

// Row j of a panel.
void NarrowRow(float* row, WeightFormat format, const std::uint8_t* panel, std::int64_t j,
               std::int64_t k) {
  switch (format) {
    case WeightFormat::f32:
      return;  // not reached: floats are not narrow
    case WeightFormat::f16:
      return WidenRow<HalfReader<hwy::float16_t>>(row, panel, j, k);
    case WeightFormat::bf16:
      return WidenRow<HalfReader<hwy::bfloat16_t>>(row, panel, j, k);
    case WeightFormat::int8:
      return WidenRow<Int8Reader>(row, panel, j, k);
    case WeightFormat::int4:
      return WidenRow<Int4Reader>(row, panel, j, k);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(NarrowGemm);
HWY_EXPORT(NarrowRow);

void narrow_row(float* row, WeightFormat format, const std::uint8_t* packed, std::int64_t j,
                std::int64_t k) noexcept {
  assert(format != WeightFormat::f32);
  const std::int64_t width = gemm_panel_width();
  HWY_DYNAMIC_DISPATCH(NarrowRow)
  (row, format, packed + narrow_packed_bytes(format, k, j / width * width), j % width, k);
}

void narrow_gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_stride,
                 WeightFormat format, const std::uint8_t* packed, std::int64_t m, std::int64_t n,
                 std::int64_t k, const float* bias) noexcept {
  assert(format != WeightFormat::f32);
  const std::int64_t panel_bytes = narrow_packed_bytes(format, k, gemm_panel_width());
  HWY_DYNAMIC_DISPATCH(NarrowGemm)
  (c, c_stride, a, a_stride, format, packed, panel_bytes, m, n, k, bias);
}

}  // namespace heed::kernels
#endif
