#include "heed/kernels/integer_argmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heed/base/index.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/integer_argmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/dispatch_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::ScalableTag<std::int32_t>;
using Ints = hn::Vec<IntTag>;

constexpr Index lanes = hn::MaxLanes(IntTag());
constexpr int panel_vectors = 2;
constexpr Index width = panel_vectors * lanes;  // rows of a panel
constexpr int mr = gemm_mr;                     // rows of x: as many sums as a GEMM's
constexpr std::int32_t least = TopTwo::none;

// The products of a row of x with some rows of the weight, one in each lane: the sum of both.
struct Sum {
  Ints even, odd;
};

// + a's two numbers x those of each row in b. A panel holds two numbers of every row side by side,
// then the next two: [k / 2, width, 2].
HWY_INLINE void AddPairs(Sum& sum, std::int32_t a, const std::int16_t* b) {
  const IntTag d;
#if HWY_TARGET == HWY_SCALAR
  const auto first = static_cast<std::int16_t>(a), second = static_cast<std::int16_t>(a >> 16);
  sum.even = hn::Add(sum.even, hn::Set(d, first * b[0]));
  sum.odd = hn::Add(sum.odd, hn::Set(d, second * b[1]));
#else
  const hn::Repartition<std::int16_t, IntTag> shorts;
  const auto both = hn::BitCast(shorts, hn::Set(d, a));
  sum.even = hn::ReorderWidenMulAccumulate(d, both, hn::LoadU(shorts, b), sum.even, sum.odd);
#endif
}

HWY_INLINE Ints Total(const Sum& sum) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Add(sum.even, sum.odd);
#else
  return hn::RearrangeToOddPlusEven(sum.even, sum.odd);
#endif
}

// The top two products of one row of x so far, lane by lane.
struct LaneTops {
  HWY_ALIGN std::int32_t largest[lanes];
  HWY_ALIGN std::int32_t second[lanes];
  HWY_ALIGN std::int32_t vector[lanes];  // the number of the vector that has the largest
};

HWY_INLINE void UpdateTops(LaneTops& tops, Ints product, std::int32_t vector) {
  const IntTag d;
  const Ints largest = hn::Load(d, tops.largest);
  const Ints second = hn::Max(hn::Load(d, tops.second), hn::Min(product, largest));
  const auto is_larger = hn::Gt(product, largest);
  hn::Store(hn::Max(largest, product), d, tops.largest);
  hn::Store(second, d, tops.second);
  hn::Store(hn::IfThenElse(is_larger, hn::Set(d, vector), hn::Load(d, tops.vector)), d,
            tops.vector);
}

// The products of some rows of x with one panel, of which `num_rows` rows count. Neither inlined,
// or what loops around it need again takes registers from the sums, nor a loop of single pairs, for
// which GCC 12 needs more registers than there are: one thread of Zen 3 with 60 rows of 128
// numbers makes 72 billion products a second, 44 with one of the two and 41 with neither.
template <int rows>
HWY_NOINLINE void UpdateTopsWithPanel(LaneTops* tops, const std::int16_t* HWY_RESTRICT x,
                                      Index x_stride, const std::int16_t* HWY_RESTRICT panel,
                                      Index num_rows, Index num_pairs, std::int32_t vector) {
  const IntTag d;
  Sum sum[rows][panel_vectors];
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < panel_vectors; ++v) sum[i][v] = {hn::Zero(d), hn::Zero(d)};
  }
#pragma GCC unroll 4
  for (Index pair = 0; pair < num_pairs; ++pair) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      std::int32_t a;  // two numbers of x
      std::memcpy(&a, x + i * x_stride + 2 * pair, sizeof(a));
#pragma GCC unroll 2
      for (int v = 0; v < panel_vectors; ++v) AddPairs(sum[i][v], a, panel + 2 * v * lanes);
    }
    panel += 2 * width;
  }
#pragma GCC unroll 2
  for (int v = 0; v < panel_vectors; ++v) {
    const auto counts =
        hn::Lt(hn::Iota(d, 0),
               hn::Set(d, static_cast<std::int32_t>(std::min(num_rows, width) - v * lanes)));
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      UpdateTops(tops[i], hn::IfThenElse(counts, Total(sum[i][v]), hn::Set(d, least)), vector + v);
    }
  }
}

TopTwo MergeLanes(const LaneTops& tops) {
  TopTwo top;
  for (Index lane = 0; lane < lanes; ++lane) {
    top.merge({tops.largest[lane], tops.second[lane], tops.vector[lane] * lanes + lane});
  }
  return top;
}

// Panel by panel, so that each is read once for a number of rows of x that is small enough for the
// L1 to keep them and their tops.
void ArgmaxOf(TopTwo* top, const std::int16_t* x, Index x_stride, Index m,
              const std::int16_t* packed, Index n, Index num_pairs) {
  constexpr Index rows_at_once = 10 * mr;
  LaneTops tops[rows_at_once];
  const IntTag d;
  for (Index first = 0; first < m; first += rows_at_once) {
    const Index count = std::min(rows_at_once, m - first);
    for (Index i = 0; i < count; ++i) {
      hn::Store(hn::Set(d, least), d, tops[i].largest);
      hn::Store(hn::Set(d, least), d, tops[i].second);
      hn::Store(hn::Zero(d), d, tops[i].vector);
    }
    for (Index column = 0; column < n; column += width) {
      const std::int16_t* panel = packed + column * 2 * num_pairs;
      const auto vector = static_cast<std::int32_t>(column / lanes);
      for (Index row = 0; row < count; row += mr) {
        DispatchRows<mr>(std::min<Index>(mr, count - row), [&]<int rows>() HEED_INLINE_LAMBDA {
          UpdateTopsWithPanel<rows>(tops + row, x + (first + row) * x_stride, x_stride, panel,
                                    n - column, num_pairs, vector);
        });
      }
    }
    for (Index i = 0; i < count; ++i) top[first + i] = MergeLanes(tops[i]);
  }
}

void ToIntegers(std::int16_t* to, const float* x, float scale, Index k) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int16_t, decltype(d)> shorts;
  const auto factor = hn::Set(d, scale);
  Index i = 0;
  for (; i + lanes <= k; i += lanes) {
    const auto nearest = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), factor));
    hn::StoreU(hn::DemoteTo(shorts, nearest), shorts, to + i);
  }
  for (; i < k; ++i) to[i] = static_cast<std::int16_t>(std::nearbyint(x[i] * scale));
}

void PackIntegers(std::int16_t* packed, const std::int16_t* rows, Index row_size, Index n) {
  for (Index j = 0; j < round_up(n, width); ++j) {
    std::int16_t* to = packed + j / width * width * row_size + j % width * 2;
    for (Index k = 0; k < row_size; k += 2) {
      to[k * width] = j < n ? rows[j * row_size + k] : 0;
      to[k * width + 1] = j < n ? rows[j * row_size + k + 1] : 0;
    }
  }
}

Index PanelRows() { return width; }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(ArgmaxOf);
HWY_EXPORT(ToIntegers);
HWY_EXPORT(PackIntegers);
HWY_EXPORT(PanelRows);

Index integer_row_size(Index k) noexcept { return round_up(k, 2); }

void to_integers(std::int16_t* to, const float* x, float scale, Index k) noexcept {
  HWY_DYNAMIC_DISPATCH(ToIntegers)(to, x, scale, k);
  std::fill(to + k, to + integer_row_size(k), std::int16_t{0});
}

Index integer_panel_rows() noexcept { return HWY_DYNAMIC_DISPATCH(PanelRows)(); }

Index integer_packed_size(Index k, Index n) noexcept {
  return round_up(n, integer_panel_rows()) * integer_row_size(k);
}

void pack_integers(std::int16_t* packed, const std::int16_t* rows, Index k, Index n) noexcept {
  HWY_DYNAMIC_DISPATCH(PackIntegers)(packed, rows, integer_row_size(k), n);
}

void integer_argmax(TopTwo* top, const std::int16_t* x, Index m, const std::int16_t* packed,
                    Index n, Index k) noexcept {
  const Index row_size = integer_row_size(k);
  HWY_DYNAMIC_DISPATCH(ArgmaxOf)(top, x, row_size, m, packed, n, row_size / 2);
}

}  // namespace heed::kernels
#endif
