// The online softmax (Milakov and Gimelshein 2018): scores arrive in blocks, and the running
// maximum, the sum and the output so far are brought up to date; compiled once per instruction set.
#if defined(HEED_KERNELS_ONLINE_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#undef HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#else
#define HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "heed/base/index.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The softmax of one query over the keys so far.
struct OnlineSoftmax {
  float max = -HUGE_VALF;
  float sum = 0;  // of e^(score - max)

  bool sees_nothing() const { return max == -HUGE_VALF; }
  float logsumexp() const { return sees_nothing() ? -HUGE_VALF : max + std::log(sum); }
  float output_scale() const { return sees_nothing() ? 0.0f : 1 / sum; }
};

// e^(scores * scale - shift), 0 where masked.
HWY_INLINE FloatVec Weights(FloatVec scores, FloatVec scale, FloatVec shift) {
  return ExpNegative(FloatTag(), hn::Sub(hn::Mul(scores, scale), shift));
}

// row = e^(row * scale - shift); returns the sum. `count` is whole vectors.
HWY_INLINE float ExpRow(float* row, Index count, float scale, float shift) {
  const FloatTag d;
  const auto scale_lanes = hn::Set(d, scale), shift_lanes = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  for (Index j = 0; j < count; j += hn::Lanes(d)) {
    const auto e = Weights(hn::Load(d, row + j), scale_lanes, shift_lanes);
    hn::Store(e, d, row + j);
    sum = hn::Add(sum, e);
  }
  return Sum(d, sum);
}

// One block of a query's scores, which become e^(score * scale - max). The row is whole vectors,
// minus infinity where masked and after the keys. Returns the factor that rescales the output so
// far: 1 where the maximum stays.
HWY_INLINE float UpdateSoftmax(OnlineSoftmax& running, float* row, Index keys, float scale) {
  const Index count = round_up(keys, hn::Lanes(FloatTag()));
  const float max = std::max(running.max, MaxOf(row, count) * scale);
  if (max == -HUGE_VALF) {
    // Nothing seen yet; or scores of NaN, which no maximum shows and no output may hide.
    if (!AllMasked(row, keys)) running.max = running.sum = NAN;
    std::fill(row, row + keys, 0.0f);
    return 1;
  }
  float rescale = 1;
  if (max != running.max) {
    rescale = running.sees_nothing() ? 0.0f : std::exp(running.max - max);
    running.sum *= rescale;
    running.max = max;
  }
  running.sum += ExpRow(row, count, scale, max);
  return rescale;
}

// The output of a query whose keys have all been seen.
HWY_INLINE void FinishSoftmax(float* output, float* logsumexp, const OnlineSoftmax& running,
                              const float* mixed, Index value_dim) {
  *logsumexp = running.logsumexp();
  const auto factor = hn::Set(FloatTag(), running.output_scale());
  Map(output, mixed, value_dim, [factor](auto v) HWY_ATTR { return hn::Mul(v, factor); });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
