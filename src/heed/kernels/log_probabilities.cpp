#include "heed/kernels/log_probabilities.h"

#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/log_probabilities.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

LogSoftmaxShift LogSoftmaxShiftOf(const float* x, Index count) {
  const FloatTag d;
  const float max = MaxOf(x, count);
  const auto shift = hn::Set(d, max);
  const float sum =
      SumOf(x, count, [d, shift](auto v) HWY_ATTR { return ExpNegative(d, hn::Sub(v, shift)); });
  return {max, static_cast<float>(std::log(static_cast<double>(sum)))};
}

Index FirstAbove(const float* x, Index begin, Index end, const LogSoftmaxShift& shift,
                 float threshold) {
  const FloatTag d;
  const Index lanes = hn::Lanes(d);
  const auto max = hn::Set(d, shift.max), logsumexp = hn::Set(d, shift.logsumexp);
  const auto limit = hn::Set(d, threshold);
  const auto is_above = [&](Index i) HWY_ATTR {
    return hn::Gt(hn::Sub(hn::Sub(hn::LoadU(d, x + i), max), logsumexp), limit);
  };
  Index i = begin;
  // Almost always nothing is above, so four vectors share one branch.
  for (; i + 4 * lanes <= end; i += 4 * lanes) {
    const auto any = hn::Or(hn::Or(is_above(i), is_above(i + lanes)),
                            hn::Or(is_above(i + 2 * lanes), is_above(i + 3 * lanes)));
    if (!hn::AllFalse(d, any)) break;
  }
  for (; i + lanes <= end; i += lanes) {
    const auto lane = hn::FindFirstTrue(d, is_above(i));
    if (lane >= 0) return i + lane;
  }
  for (; i < end; ++i) {
    if (x[i] - shift.max - shift.logsumexp > threshold) return i;
  }
  return end;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(LogSoftmaxShiftOf);
HWY_EXPORT(FirstAbove);

LogSoftmaxShift log_softmax_shift(const float* x, Index count) noexcept {
  return HWY_DYNAMIC_DISPATCH(LogSoftmaxShiftOf)(x, count);
}

Index first_above(const float* x, Index begin, Index end, const LogSoftmaxShift& shift,
                  float threshold) noexcept {
  return HWY_DYNAMIC_DISPATCH(FirstAbove)(x, begin, end, shift, threshold);
}

}  // namespace heed::kernels
#endif
