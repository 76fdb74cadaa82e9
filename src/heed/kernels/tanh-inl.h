// The hyperbolic tangent of soft caps; compiled once per instruction set.
#if defined(HEED_KERNELS_TANH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TANH_INL_H_
#undef HEED_KERNELS_TANH_INL_H_
#else
#define HEED_KERNELS_TANH_INL_H_
#endif

#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

HWY_INLINE FloatVec Tanh(FloatVec x) {
  // 1 - 2 / (e^2x + 1): right at both ends, where e^2x is 0 or infinite.
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  return hn::Sub(one, hn::Div(two, hn::Add(Exp(d, hn::Mul(x, two)), one)));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
