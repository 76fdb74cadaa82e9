// Products with so few rows of a that reading b is all that counts; compiled once per instruction
// set.
//
// b lies in panels as for gemm-inl.h, in numbers of some format, and is read once, in the order of
// memory. The order of each sum is that of GemmPanels.
#if defined(HEED_KERNELS_STREAM_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_STREAM_PANELS_INL_H_
#undef HEED_KERNELS_STREAM_PANELS_INL_H_
#else
#define HEED_KERNELS_STREAM_PANELS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/weight_format.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;

constexpr std::int64_t lanes = hn::MaxLanes(FloatTag());
constexpr std::int64_t width = 2 * lanes;  // of a panel, in numbers
constexpr std::int64_t chunk = 8;          // k that are read between two looks at the format
constexpr std::int64_t max_stream_rows = 6;

// A Reader gives a panel as floats, from a multiple of block_depth on: Start, then StartGroup
// before every int4_group k and StartChunk before every chunk, then Next for each k, which is told
// the place of the k in its chunk: a constant where the loop over a chunk is unrolled. With more
// rows than quiet_rows, what lies bytes_ahead is asked for while a chunk of chunk_bytes is read.

// Numbers that are floats, or become floats by widening alone. For one row or two the arithmetic is
// so short that asking is in the way. For six rows of 1024 floats and a b in memory, one thread of
// Zen 3 reads 5.4 billion numbers a second, and 4.2 without.
template <class Number>  // float, hwy::float16_t or hwy::bfloat16_t
class PlainReader {
 public:
  static constexpr std::int64_t chunk_bytes = chunk * width * sizeof(Number);
  static constexpr std::int64_t bytes_ahead = 2048;
  static constexpr int quiet_rows = 2;

  HWY_INLINE void Start(const std::uint8_t* panel, std::int64_t begin) {
    at_ = reinterpret_cast<const Number*>(panel) + begin * width;
  }
  HWY_INLINE void StartGroup() {}
  HWY_INLINE void StartChunk() {}
  HWY_INLINE void Next(int /*step*/, Floats& first, Floats& second) {
    first = Widened(at_);
    second = Widened(at_ + lanes);
    at_ += width;
  }

 private:
  static HWY_INLINE Floats Widened(const Number* from) {
    const auto numbers = hn::LoadU(hn::Rebind<Number, FloatTag>(), from);
    if constexpr (std::is_same_v<Number, float>) {
      return numbers;
    } else {
      return hn::PromoteTo(FloatTag(), numbers);
    }
  }

  const Number* at_;
};

// Where the results of some panels go.
struct StreamC {
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
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      const Floats ai = hn::Set(FloatTag(), a[i * a_stride]);
      sum[i][2 * p] = hn::MulAdd(ai, first, sum[i][2 * p]);
      sum[i][2 * p + 1] = hn::MulAdd(ai, second, sum[i][2 * p + 1]);
    }
  }
}

HWY_INLINE void StoreRow(const StreamC& c, std::int64_t row, std::int64_t column, Floats sum) {
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
template <class Reader, int rows, int panels>
HWY_INLINE void AskForChunks(const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t l) {
  constexpr std::int64_t line = 64;
  if constexpr (rows > Reader::quiet_rows) {
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

// The widened numbers live in registers only. Sums are made of blocks of k, added one by one.
template <class Reader, int rows, int panels>
HWY_INLINE void StreamPanels(const StreamC& c, const float* a, std::int64_t a_stride,
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
      AskForChunks<Reader, rows, panels>(packed, panel_bytes, l);
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

// All columns of c, so many panels at a time.
template <class Reader, int rows, int panels>
HWY_INLINE void StreamAllPanels(const StreamC& c, const float* a, std::int64_t a_stride,
                                const std::uint8_t* packed, std::int64_t panel_bytes,
                                std::int64_t k) {
  const auto from = [&c](std::int64_t column, std::int64_t most) {
    return StreamC{c.data + column, c.stride, std::min(most, c.columns - column),
                   c.bias ? c.bias + column : nullptr};
  };
  std::int64_t column = 0;
  for (; column + (panels - 1) * width < c.columns; column += panels * width) {
    StreamPanels<Reader, rows, panels>(from(column, panels * width), a, a_stride,
                                       packed + column / width * panel_bytes, panel_bytes, k);
  }
  if (column >= c.columns) return;
  StreamPanels<Reader, rows, 1>(from(column, width), a, a_stride,
                                packed + column / width * panel_bytes, panel_bytes, k);
}

// Up to max_stream_rows rows of a. One row or two keep two panels' sums at once: those of one are
// too few to hide the latency of the multiply-adds.
template <class Reader>
HWY_INLINE void StreamRows(const StreamC& c, const float* a, std::int64_t a_stride,
                           const std::uint8_t* packed, std::int64_t panel_bytes, std::int64_t m,
                           std::int64_t k) {
  switch (m) {
    case 1:
      return StreamAllPanels<Reader, 1, 2>(c, a, a_stride, packed, panel_bytes, k);
    case 2:
      return StreamAllPanels<Reader, 2, 2>(c, a, a_stride, packed, panel_bytes, k);
    case 3:
      return StreamAllPanels<Reader, 3, 1>(c, a, a_stride, packed, panel_bytes, k);
    case 4:
      return StreamAllPanels<Reader, 4, 1>(c, a, a_stride, packed, panel_bytes, k);
    case 5:
      return StreamAllPanels<Reader, 5, 1>(c, a, a_stride, packed, panel_bytes, k);
    case 6:
      return StreamAllPanels<Reader, 6, 1>(c, a, a_stride, packed, panel_bytes, k);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
