// Vector functions that several kernels share; compiled once per instruction set.
#if defined(HEED_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_MATH_INL_H_
#undef HEED_KERNELS_MATH_INL_H_
#else
#define HEED_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "heed/base/index.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// e^r for |r| <= ln(2) / 2, with an error below 2^-28 before rounding: 1 + r + r^2 p(r), the
// coefficients of p being those that make the largest relative error least.
HWY_INLINE FloatVec ExpNearZero(FloatTag d, FloatVec r) {
  auto y = hn::Set(d, 0.0013814536f);
  y = hn::MulAdd(y, r, hn::Set(d, 0.008368745f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.041668393f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.16666521f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.49999994f));
  y = hn::MulAdd(y, r, hn::Set(d, 1.0f));
  return hn::MulAdd(y, r, hn::Set(d, 1.0f));
}

// x - n ln 2. ln 2 is taken off in two parts, so that the rest is exact.
HWY_INLINE FloatVec RestOfLog2(FloatTag d, FloatVec x, FloatVec n) {
  const auto rest = hn::NegMulAdd(n, hn::Set(d, 0.693145752f), x);
  return hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), rest);
}

// e^x within 2 units in the last place; 0 below -87.3, where floats become subnormal (minus
// infinity among them), infinity above 88.7. NaN stays NaN.
HWY_INLINE FloatVec Exp(FloatTag d, FloatVec x) {
  const hn::RebindToSigned<FloatTag> di;
  const auto lowest = hn::Set(d, -87.33654f);
  const auto highest = hn::Set(d, 88.72283f);
  const auto is_zero = hn::Lt(x, lowest);
  const auto is_infinite = hn::Gt(x, highest);
  x = hn::IfThenElse(is_zero, lowest, hn::IfThenElse(is_infinite, highest, x));

  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  auto y = ExpNearZero(d, RestOfLog2(d, x, n));

  // 2^n in two factors: n reaches 128, one more than a single exponent holds.
  const auto exponent = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(exponent);
  const auto bias = hn::Set(di, 127);
  const auto first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const auto second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)));
  y = hn::Mul(hn::Mul(y, first), second);
  y = hn::IfThenZeroElse(is_zero, y);
  return hn::IfThenElse(is_infinite, hn::Set(d, HUGE_VALF), y);
}

// The same for x <= 0, what a softmax takes once its maximum is off (rounding may leave a little
// more; 88 is the most). Half the instructions of Exp: a softmax spends its time here.
HWY_INLINE FloatVec ExpNegative(FloatTag d, FloatVec x) {
  // A sum with 1.5 * 2^23 has n, rounded, in its lowest bits; with 127 more they are the exponent
  // of 2^n, and moving them to its place pushes all others out.
  const hn::RebindToSigned<FloatTag> di;
  const auto shifter = hn::Set(d, 12582912.0f + 127);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shifter);
  const auto n = hn::Sub(shifted, shifter);
  const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  const auto y = hn::Mul(ExpNearZero(d, RestOfLog2(d, x, n)), power);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), y);
}

// One chain per lane, then the lanes in pairs: the same order for the same count, always.
HWY_INLINE float Sum(FloatTag d, FloatVec v) { return hn::GetLane(hn::SumOfLanes(d, v)); }
HWY_INLINE float Max(FloatTag d, FloatVec v) { return hn::GetLane(hn::MaxOfLanes(d, v)); }

// Calls whole(i) for every full vector of [0, count), then rest(i, lanes) for what is left.
template <class Whole, class Rest>
HWY_INLINE void ForVectors(FloatTag d, Index count, Whole whole, Rest rest) {
  const Index lanes = hn::Lanes(d);
  Index i = 0;
  for (; i + lanes <= count; i += lanes) whole(i);
  if (i < count) rest(i, static_cast<std::size_t>(count - i));
}

// y[i] = f(x[i] ...) with vectors; the last few elements go through a padded copy.
template <class F>
HWY_INLINE void Map(float* y, const float* x, Index count, F f) {
  const FloatTag d;
  ForVectors(
      d, count, [&](Index i) { hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i); },
      [&](Index i, std::size_t left) {
        HWY_ALIGN float buffer[HWY_MAX_BYTES / sizeof(float)] = {};
        for (std::size_t j = 0; j < left; ++j) buffer[j] = x[i + j];
        hn::Store(f(hn::Load(d, buffer)), d, buffer);
        for (std::size_t j = 0; j < left; ++j) y[i + j] = buffer[j];
      });
}

template <class F>
HWY_INLINE void Map(float* y, const float* a, const float* b, Index count, F f) {
  const FloatTag d;
  ForVectors(
      d, count, [&](Index i) { hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i); },
      [&](Index i, std::size_t left) {
        HWY_ALIGN float first[HWY_MAX_BYTES / sizeof(float)] = {};
        HWY_ALIGN float second[HWY_MAX_BYTES / sizeof(float)] = {};
        for (std::size_t j = 0; j < left; ++j) first[j] = a[i + j], second[j] = b[i + j];
        hn::Store(f(hn::Load(d, first), hn::Load(d, second)), d, first);
        for (std::size_t j = 0; j < left; ++j) y[i + j] = first[j];
      });
}

// Loads up to a vector's worth of floats and fills the rest with `fill`.
HWY_INLINE FloatVec LoadPart(FloatTag d, const float* x, std::size_t count, float fill = 0) {
  HWY_ALIGN float buffer[HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t j = 0; j < hn::Lanes(d); ++j) buffer[j] = j < count ? x[j] : fill;
  return hn::Load(d, buffer);
}

// The sum of f(x[i]) or f(a[i], b[i]): lane j takes elements j, j + lanes, ... in order.
template <class F>
HWY_INLINE float SumOf(const float* x, Index count, F f) {
  const FloatTag d;
  auto sum = hn::Zero(d);
  ForVectors(
      d, count, [&](Index i) { sum = hn::Add(sum, f(hn::LoadU(d, x + i))); },
      [&](Index i, std::size_t left) {
        const auto part = f(LoadPart(d, x + i, left));
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, left), part));
      });
  return Sum(d, sum);
}

template <class F>
HWY_INLINE float SumOf(const float* a, const float* b, Index count, F f) {
  const FloatTag d;
  auto sum = hn::Zero(d);
  ForVectors(
      d, count, [&](Index i) { sum = hn::Add(sum, f(hn::LoadU(d, a + i), hn::LoadU(d, b + i))); },
      [&](Index i, std::size_t left) {
        const auto part = f(LoadPart(d, a + i, left), LoadPart(d, b + i, left));
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, left), part));
      });
  return Sum(d, sum);
}

HWY_INLINE float MaxOf(const float* x, Index count) {
  const FloatTag d;
  auto max = hn::Set(d, -HUGE_VALF);
  ForVectors(
      d, count, [&](Index i) { max = hn::Max(max, hn::LoadU(d, x + i)); },
      [&](Index i, std::size_t left) { max = hn::Max(max, LoadPart(d, x + i, left, -HUGE_VALF)); });
  return Max(d, max);
}

// Is every element minus infinity? NaN is not.
HWY_INLINE bool AllMasked(const float* x, Index count) {
  for (Index i = 0; i < count; ++i) {
    if (x[i] != -HUGE_VALF) return false;
  }
  return true;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
