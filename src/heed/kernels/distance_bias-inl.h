// Biases of scores by distance, from a table, and the gradient of the table; compiled once per
// instruction set.
#if defined(HEED_KERNELS_DISTANCE_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_DISTANCE_BIAS_INL_H_
#undef HEED_KERNELS_DISTANCE_BIAS_INL_H_
#else
#define HEED_KERNELS_DISTANCE_BIAS_INL_H_
#endif

#include <algorithm>

#include "heed/base/index.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// A query and some consecutive keys. Along the keys the distance grows by one each, so that those
// of [first, last) have consecutive places in the table, from `place` on; keys before take the
// table's first number, keys after its last.
struct TablePlaces {
  Index first, last, place;

  HWY_INLINE TablePlaces(Index query, Index first_key, Index keys, const AttentionRule& rule) {
    const Index distance = first_key - (query + rule.past);  // of the first key
    first = std::clamp<Index>(-rule.max_distance - distance, 0, keys);
    last = std::clamp<Index>(rule.max_distance + 1 - distance, first, keys);
    place = rule.max_distance + distance + first;
  }
};

HWY_INLINE void AddConstant(float* x, Index count, float value) {
  const auto lanes = hn::Set(FloatTag(), value);
  Map(x, x, count, [lanes](auto v) HWY_ATTR { return hn::Add(v, lanes); });
}

HWY_INLINE void AddTo(float* sums, const float* x, Index count) {
  Map(sums, sums, x, count, [](auto s, auto v) HWY_ATTR { return hn::Add(s, v); });
}

HWY_INLINE float SumOfRow(const float* x, Index count) {
  return SumOf(x, count, [](auto v) HWY_ATTR { return v; });
}

// row [keys] += the biases of one query.
HWY_INLINE void AddDistanceBias(float* row, Index query, Index first_key, Index keys,
                                const AttentionRule& rule) {
  const TablePlaces places(query, first_key, keys, rule);
  const float* table = rule.distance_bias;
  if (places.first > 0) AddConstant(row, places.first, table[0]);
  if (places.first < places.last) {
    AddTo(row + places.first, table + places.place, places.last - places.first);
  }
  if (places.last < keys) {
    AddConstant(row + places.last, keys - places.last, table[2 * rule.max_distance]);
  }
}

// The gradient of the table += that of one query's biases.
HWY_INLINE void AddDistanceGradient(float* dtable, const float* row, Index query, Index first_key,
                                    Index keys, const AttentionRule& rule) {
  const TablePlaces places(query, first_key, keys, rule);
  if (places.first > 0) dtable[0] += SumOfRow(row, places.first);
  if (places.first < places.last) {
    AddTo(dtable + places.place, row + places.first, places.last - places.first);
  }
  if (places.last < keys) {
    dtable[2 * rule.max_distance] += SumOfRow(row + places.last, keys - places.last);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
