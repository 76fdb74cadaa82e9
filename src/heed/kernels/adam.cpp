#include "heed/kernels/adam.h"

#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Kingma and Ba 2015, algorithm 1, with epsilon outside the corrected root:
//   mean   = beta1 mean + (1 - beta1) g,    square = beta2 square + (1 - beta2) g^2
//   weight = keep weight - step_size mean / (root_correction sqrt(square) + epsilon)
template <class D>
HWY_INLINE void AdamAt(D d, float* weight, float* mean, float* square, const float* gradient,
                       const AdamStep& step) {
  const auto w = hn::LoadU(d, weight);
  auto g = hn::Mul(hn::LoadU(d, gradient), hn::Set(d, step.gradient_scale));
  g = hn::MulAdd(hn::Set(d, step.l2), w, g);
  const auto m = hn::MulAdd(hn::Set(d, step.beta1), hn::LoadU(d, mean),
                            hn::Mul(hn::Set(d, 1 - step.beta1), g));
  const auto v = hn::MulAdd(hn::Set(d, step.beta2), hn::LoadU(d, square),
                            hn::Mul(hn::Mul(hn::Set(d, 1 - step.beta2), g), g));
  const auto root =
      hn::MulAdd(hn::Set(d, step.root_correction), hn::Sqrt(v), hn::Set(d, step.epsilon));
  const auto change = hn::Div(hn::Mul(hn::Set(d, step.step_size), m), root);
  hn::StoreU(m, d, mean);
  hn::StoreU(v, d, square);
  hn::StoreU(hn::MulSub(hn::Set(d, step.keep), w, change), d, weight);
}

void Adam(float* weight, float* mean, float* square, const float* gradient, Index n,
          const AdamStep& step) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    AdamAt(d, weight + i, mean + i, square + i, gradient + i, step);
  }
  for (; i < n; ++i) AdamAt(one, weight + i, mean + i, square + i, gradient + i, step);
}

double SumOfSquares(const float* x, Index n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto a = hn::PromoteTo(d, hn::LoadU(half, x + i));
    const auto b = hn::PromoteTo(d, hn::LoadU(half, x + i + lanes));
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < n; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

template <class D>
HWY_INLINE void MoveAverageAt(D d, float* average, const float* weight, float keep) {
  const auto moved = hn::MulAdd(hn::Set(d, keep), hn::LoadU(d, average),
                                hn::Mul(hn::Set(d, 1 - keep), hn::LoadU(d, weight)));
  hn::StoreU(moved, d, average);
}

void MoveAverage(float* average, const float* weight, Index n, float keep) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) MoveAverageAt(d, average + i, weight + i, keep);
  for (; i < n; ++i) MoveAverageAt(one, average + i, weight + i, keep);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Adam);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(MoveAverage);

void adam(float* weight, float* mean, float* square, const float* gradient, Index n,
          const AdamStep& step) noexcept {
  HWY_DYNAMIC_DISPATCH(Adam)(weight, mean, square, gradient, n, step);
}

double sum_of_squares(const float* x, Index n) noexcept {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(x, n);
}

void move_average(float* average, const float* weight, Index n, float keep) noexcept {
  HWY_DYNAMIC_DISPATCH(MoveAverage)(average, weight, n, keep);
}

}  // namespace heed::kernels
#endif
