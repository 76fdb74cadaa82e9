#include "heed/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/softmax.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

struct RowSums {
  float exps;    // of e^(x - max)
  float shifts;  // of x - max, where wanted
};

// y = e^(x - max), and the sums of both in the same pass.
template <bool wants_shifts>
HWY_INLINE RowSums ExpAndSums(float* y, const float* x, float max, Index cols) {
  const FloatTag d;
  const auto shift = hn::Set(d, max);
  auto exps = hn::Zero(d), shifts = hn::Zero(d);
  ForVectors(
      d, cols,
      [&](Index i) HWY_ATTR {
        const auto below = hn::Sub(hn::LoadU(d, x + i), shift);
        if (wants_shifts) shifts = hn::Add(shifts, below);
        const auto e = ExpNegative(d, below);
        hn::StoreU(e, d, y + i);
        exps = hn::Add(exps, e);
      },
      [&](Index i, std::size_t left) HWY_ATTR {
        const auto below = hn::Sub(LoadPart(d, x + i, left, -HUGE_VALF), shift);
        if (wants_shifts) {
          shifts = hn::Add(shifts, hn::IfThenElseZero(hn::FirstN(d, left), below));
        }
        const auto e = ExpNegative(d, below);
        HWY_ALIGN float buffer[HWY_MAX_BYTES / sizeof(float)];
        hn::Store(e, d, buffer);
        for (std::size_t j = 0; j < left; ++j) y[i + static_cast<Index>(j)] = buffer[j];
        exps = hn::Add(exps, e);
      });
  return {Sum(d, exps), wants_shifts ? Sum(d, shifts) : 0};
}

HWY_INLINE float ExpAndSum(float* y, const float* x, float max, Index cols) {
  return ExpAndSums</*wants_shifts=*/false>(y, x, max, cols).exps;
}

HWY_INLINE void ScaleInPlace(float* y, float factor, Index cols) {
  const auto f = hn::Set(FloatTag(), factor);
  Map(y, y, cols, [f](auto v) HWY_ATTR { return hn::Mul(v, f); });
}

void Softmax(float* y, const float* x, Index rows, Index cols) {
  for (Index row = 0; row < rows; ++row, x += cols, y += cols) {
    const float max = MaxOf(x, cols);
    if (max == -HUGE_VALF && AllMasked(x, cols)) {
      for (Index i = 0; i < cols; ++i) y[i] = 0;
      continue;
    }
    const float sum = ExpAndSum(y, x, max, cols);
    ScaleInPlace(y, 1 / sum, cols);
  }
}

void ExpBelow(float* y, const float* x, float max, Index count) { ExpAndSum(y, x, max, count); }

void SoftmaxBackward(float* dx, const float* dy, const float* y, Index rows, Index cols) {
  for (Index row = 0; row < rows; ++row, dx += cols, dy += cols, y += cols) {
    const float dot = SumOf(dy, y, cols, [](auto g, auto v) HWY_ATTR { return hn::Mul(g, v); });
    const auto shift = hn::Set(FloatTag(), dot);
    Map(dx, dy, y, cols,
        [shift](auto g, auto v) HWY_ATTR { return hn::Mul(v, hn::Sub(g, shift)); });
  }
}

// sum(e^(x - max)); nothing is stored.
HWY_INLINE float SumOfExp(const float* x, float max, Index cols) {
  const FloatTag d;
  const auto shift = hn::Set(d, max);
  return SumOf(x, cols, [d, shift](auto v) HWY_ATTR { return ExpNegative(d, hn::Sub(v, shift)); });
}

void LogSoftmax(float* y, const float* x, Index rows, Index cols) {
  for (Index row = 0; row < rows; ++row, x += cols, y += cols) {
    const float max = MaxOf(x, cols);
    const float logsumexp =
        static_cast<float>(std::log(static_cast<double>(SumOfExp(x, max, cols))));
    const auto first = hn::Set(FloatTag(), max);
    const auto second = hn::Set(FloatTag(), logsumexp);
    Map(y, x, cols,
        [first, second](auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, first), second); });
  }
}

void LogSoftmaxBackward(float* dx, const float* dy, const float* y, Index rows, Index cols) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, dx += cols, dy += cols, y += cols) {
    const auto total = hn::Set(d, SumOf(dy, cols, [](auto g) HWY_ATTR { return g; }));
    Map(dx, dy, y, cols,
        [d, total](auto g, auto v) HWY_ATTR { return hn::NegMulAdd(ExpNegative(d, v), total, g); });
  }
}

// z = factor z - spread.
void LogitsPartGradient(float* z, float factor, float spread, Index cols) {
  const auto f = hn::Set(FloatTag(), factor), s = hn::Set(FloatTag(), spread);
  Map(z, z, cols, [f, s](auto v) HWY_ATTR { return hn::MulSub(v, f, s); });
}

LogitsPart TakeLogitsPart(float* z, Index cols, bool wants_shifts) {
  const float max = MaxOf(z, cols);
  if (max == -HUGE_VALF && AllMasked(z, cols)) {
    std::fill(z, z + cols, 0.0f);
    return {max, 0, wants_shifts ? -HUGE_VALF : 0};
  }
  const RowSums sums =
      wants_shifts ? ExpAndSums<true>(z, z, max, cols) : ExpAndSums<false>(z, z, max, cols);
  return {max, sums.exps, sums.shifts};
}

RowLoss CrossEntropyRow(float* z, Index cols, Index target, float smoothing) {
  const float max = MaxOf(z, cols);
  const float at_target = z[target];
  const RowSums sums =
      smoothing == 0 ? ExpAndSums<false>(z, z, max, cols) : ExpAndSums<true>(z, z, max, cols);
  const double logsumexp = std::log(static_cast<double>(sums.exps));

  LogitsPartGradient(z, 1 / sums.exps, smoothing / static_cast<float>(cols), cols);
  z[target] -= 1 - smoothing;

  const double likelihood = logsumexp - (static_cast<double>(at_target) - max);
  const double over_all = logsumexp - static_cast<double>(sums.shifts) / static_cast<double>(cols);
  return {(1 - static_cast<double>(smoothing)) * likelihood + smoothing * over_all, likelihood};
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Softmax);
HWY_EXPORT(ExpBelow);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(LogSoftmaxBackward);
HWY_EXPORT(CrossEntropyRow);
HWY_EXPORT(TakeLogitsPart);
HWY_EXPORT(LogitsPartGradient);

void softmax(float* y, const float* x, Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(Softmax)(y, x, rows, cols);
}

void exp_below(float* y, const float* x, float max, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(ExpBelow)(y, x, max, count);
}

void softmax_backward(float* dx, const float* dy, const float* y, Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(dx, dy, y, rows, cols);
}

void log_softmax(float* y, const float* x, Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(LogSoftmax)(y, x, rows, cols);
}

void log_softmax_backward(float* dx, const float* dy, const float* y, Index rows,
                          Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackward)(dx, dy, y, rows, cols);
}

RowLoss cross_entropy_row(float* z, Index cols, Index target, float smoothing) noexcept {
  return HWY_DYNAMIC_DISPATCH(CrossEntropyRow)(z, cols, target, smoothing);
}

LogitsPart take_logits_part(float* z, Index cols, bool wants_shifts) noexcept {
  return HWY_DYNAMIC_DISPATCH(TakeLogitsPart)(z, cols, wants_shifts);
}

void logits_part_gradient(float* e, float factor, float spread, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(LogitsPartGradient)(e, factor, spread, cols);
}

}  // namespace heed::kernels
#endif
