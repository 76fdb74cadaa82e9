// GEMM with so few rows of A that it is bound by reading B; compiled once per instruction set.
//
// B is in panels as for gemm-inl.h, in numbers of some format, and is streamed: read once, in the
// order of memory, and dequantized in registers. The order of each sum is that of GemmPanels.
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

#include "heed/base/index.h"
#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/weight_format.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;

constexpr Index lanes = hn::MaxLanes(FloatTag());
constexpr Index width = 2 * lanes;  // of a panel, in numbers
constexpr Index chunk = 8;          // k between two calls of StartChunk
constexpr int max_stream_rows = 6;

// A Reader gives a panel as floats, from a multiple of KC on: Start, then StartGroup before every
// int4_group k and StartChunk before every chunk, then Next for each k. Next takes the step of the
// k within its chunk, a constant where the loop over a chunk is unrolled. With more rows than
// max_rows_without_prefetch, the line bytes_ahead is prefetched while a chunk of chunk_bytes is
// read.

// Floats, or half floats that are promoted to them. For one row or two the arithmetic is so short
// that prefetching is in the way. For six rows of 1024 floats and a b in memory, one thread of
// Zen 3 reads 5.4 billion numbers a second, and 4.2 without.
template <class Number>  // float, hwy::float16_t or hwy::bfloat16_t
class PlainReader {
 public:
  static constexpr Index chunk_bytes = chunk * width * sizeof(Number);
  static constexpr Index bytes_ahead = 2048;
  static constexpr int max_rows_without_prefetch = 2;

  HWY_INLINE void Start(const std::uint8_t* panel, Index begin) {
    at_ = reinterpret_cast<const Number*>(panel) + begin * width;
  }
  HWY_INLINE void StartGroup() {}
  HWY_INLINE void StartChunk() {}
  HWY_INLINE void Next(int /*step*/, Floats& first, Floats& second) {
    first = Load(at_);
    second = Load(at_ + lanes);
    at_ += width;
  }

 private:
  static HWY_INLINE Floats Load(const Number* from) {
    const auto numbers = hn::LoadU(hn::Rebind<Number, FloatTag>(), from);
    if constexpr (std::is_same_v<Number, float>) {
      return numbers;
    } else {
      return hn::PromoteTo(FloatTag(), numbers);
    }
  }

  const Number* at_;
};

// Packed panels of B, `bytes` each.
struct PanelsView {
  const std::uint8_t* data;
  Index bytes;

  PanelsView from(Index panel) const { return {data + panel * bytes, bytes}; }
};

// Where the results of some panels go.
struct StreamC {
  RowsOut rows;
  Index columns;      // of these panels
  const float* bias;  // or null
};

// The products of one k, at `step` of its chunk; a begins with that k.
template <class Reader, int rows, int panels>
HWY_INLINE void AddStep(Floats (&sum)[rows][2 * panels], Reader (&readers)[panels], int step,
                        const RowsView& a) {
#pragma GCC unroll 2
  for (int p = 0; p < panels; ++p) {
    Floats first, second;
    readers[p].Next(step, first, second);
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      const Floats ai = hn::Set(FloatTag(), *a.row(i));
      sum[i][2 * p] = hn::MulAdd(ai, first, sum[i][2 * p]);
      sum[i][2 * p + 1] = hn::MulAdd(ai, second, sum[i][2 * p + 1]);
    }
  }
}

HWY_INLINE void StoreRow(const StreamC& c, Index row, Index column, Floats sum) {
  const FloatTag d;
  float* to = c.rows.row(row) + column;
  if (column + lanes <= c.columns) {
    if (c.bias) sum = hn::Add(sum, hn::LoadU(d, c.bias + column));
    hn::StoreU(sum, d, to);
    return;
  }
  HWY_ALIGN float tile[lanes];
  hn::Store(sum, d, tile);
  for (Index j = 0; j < c.columns - column; ++j) {
    to[j] = c.bias ? tile[j] + c.bias[column + j] : tile[j];
  }
}

// Prefetches the chunks of k from l on, of all panels, so far ahead as the reader wants it.
template <class Reader, int rows, int panels>
HWY_INLINE void PrefetchChunks(const PanelsView& packed, Index l) {
  constexpr Index line = 64;
  if constexpr (rows > Reader::max_rows_without_prefetch) {
    const Index ahead = l / chunk * Reader::chunk_bytes + Reader::bytes_ahead;
    // Beyond the end of a panel: in the one that comes after these.
    const std::uint8_t* from =
        packed.data + ahead + (ahead < packed.bytes ? 0 : (panels - 1) * packed.bytes);
    for (int p = 0; p < panels; ++p) {
      for (Index byte = 0; byte < Reader::chunk_bytes; byte += line) {
        hwy::Prefetch(from + p * packed.bytes + byte);
      }
    }
  }
}

// The dequantized numbers live in registers only. Sums are made of blocks of KC, added one by one.
template <class Reader, int rows, int panels>
HWY_INLINE void StreamPanels(const StreamC& c, const RowsView& a, const PanelsView& packed,
                             Index k) {
  Reader readers[panels];
  for (int p = 0; p < panels; ++p) readers[p].Start(packed.from(p).data, 0);
  Floats total[rows][2 * panels];
  for (auto& row : total) {
    for (Floats& part : row) part = hn::Zero(FloatTag());
  }
  Index begin = 0;
  do {  // once even for k = 0, which gives zeros or the bias
    Floats sum[rows][2 * panels];
    for (auto& row : sum) {
      for (Floats& part : row) part = hn::Zero(FloatTag());
    }
    const Index end = std::min(begin + kc, k);
    for (Index l = begin; l < end; l += chunk) {
      PrefetchChunks<Reader, rows, panels>(packed, l);
      for (int p = 0; p < panels; ++p) {
        if (l % int4_group == 0) readers[p].StartGroup();
        readers[p].StartChunk();
      }
      if (end - l >= chunk) {
#pragma GCC unroll 8
        for (int step = 0; step < chunk; ++step) {
          AddStep<Reader, rows, panels>(sum, readers, step, a.from(0, l + step));
        }
      } else {
#pragma GCC unroll 1
        for (int step = 0; step < end - l; ++step) {
          AddStep<Reader, rows, panels>(sum, readers, step, a.from(0, l + step));
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
HWY_INLINE void StreamAllPanels(const StreamC& c, const RowsView& a, const PanelsView& packed,
                                Index k) {
  const auto from = [&c](Index column, Index max_columns) {
    return StreamC{c.rows.from(0, column), std::min(max_columns, c.columns - column),
                   c.bias ? c.bias + column : nullptr};
  };
  Index column = 0;
  for (; column + (panels - 1) * width < c.columns; column += panels * width) {
    StreamPanels<Reader, rows, panels>(from(column, panels * width), a, packed.from(column / width),
                                       k);
  }
  if (column >= c.columns) return;
  StreamPanels<Reader, rows, 1>(from(column, width), a, packed.from(column / width), k);
}

// Up to max_stream_rows rows of A. One row or two keep two panels' sums at once: those of one are
// too few to hide the latency of the multiply-adds.
template <class Reader>
HWY_INLINE void StreamRows(const StreamC& c, const RowsView& a, const PanelsView& packed,
                           const GemmSizes& sizes) {
  if (sizes.m == 0) return;
  DispatchRows<max_stream_rows>(sizes.m, [&]<int rows>() HEED_INLINE_LAMBDA {
    StreamAllPanels<Reader, rows, rows <= 2 ? 2 : 1>(c, a, packed, sizes.k);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
