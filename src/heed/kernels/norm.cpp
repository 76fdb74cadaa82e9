#include "heed/kernels/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/norm.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

HWY_INLINE float Dot(const float* a, const float* b, Index count) {
  return SumOf(a, b, count, [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); });
}

// sum += a * b, element by element.
HWY_INLINE void AddProduct(float* sum, const float* a, const float* b, Index count) {
  const FloatTag d;
  ForVectors(
      d, count,
      [&](Index i) HWY_ATTR {
        const auto product =
            hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, sum + i));
        hn::StoreU(product, d, sum + i);
      },
      [&](Index i, std::size_t left) HWY_ATTR {
        for (std::size_t j = 0; j < left; ++j) {
          const Index at = i + static_cast<Index>(j);
          sum[at] = std::fma(a[at], b[at], sum[at]);
        }
      });
}

void LayerNorm(float* y, float* mean, float* inverse, const float* x, const float* gain,
               const float* bias, Index rows, Index cols, float epsilon) {
  const FloatTag d;
  const float width = static_cast<float>(cols);
  for (Index row = 0; row < rows; ++row, x += cols, y += cols) {
    mean[row] = SumOf(x, cols, [](auto v) HWY_ATTR { return v; }) / width;
    const auto center = hn::Set(d, mean[row]);
    const float squares = SumOf(x, cols, [center](auto v) HWY_ATTR {
      const auto from_center = hn::Sub(v, center);
      return hn::Mul(from_center, from_center);
    });
    inverse[row] = 1 / std::sqrt(squares / width + epsilon);
    const auto factor = hn::Set(d, inverse[row]);
    Map(y, x, gain, cols, [center, factor](auto v, auto g) HWY_ATTR {
      return hn::Mul(hn::Mul(hn::Sub(v, center), factor), g);
    });
    if (bias) Map(y, y, bias, cols, [](auto v, auto b) HWY_ATTR { return hn::Add(v, b); });
  }
}

// The part of the backward that the norms share, with g = dy * gain: dgain += dy * xhat, and the
// result is mean(g * xhat).
HWY_INLINE float GainBackward(float* dgain, const float* dy, const float* gain, const float* xhat,
                              Index cols) {
  AddProduct(dgain, dy, xhat, cols);
  const FloatTag d;
  auto sum = hn::Zero(d);
  ForVectors(
      d, cols,
      [&](Index i) HWY_ATTR {
        const auto g = hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, gain + i));
        sum = hn::MulAdd(g, hn::LoadU(d, xhat + i), sum);
      },
      [&](Index i, std::size_t left) HWY_ATTR {
        const auto g = hn::Mul(LoadPart(d, dy + i, left), LoadPart(d, gain + i, left));
        sum = hn::MulAdd(g, LoadPart(d, xhat + i, left), sum);
      });
  return Sum(d, sum) / static_cast<float>(cols);
}

// With xhat = (x - mean) * inverse and g = dy * gain:
// dx = inverse * (g - mean(g) - xhat * mean(g * xhat)), dgain += dy * xhat, dbias += dy.
void LayerNormBackward(float* dx, float* dgain, float* dbias, const float* dy, const float* x,
                       const float* mean, const float* inverse, const float* gain, Index rows,
                       Index cols) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, dx += cols, dy += cols, x += cols) {
    const auto center = hn::Set(d, mean[row]);
    const auto factor = hn::Set(d, inverse[row]);
    // dx holds xhat until the last step.
    Map(dx, x, cols,
        [center, factor](auto v) HWY_ATTR { return hn::Mul(hn::Sub(v, center), factor); });
    if (dbias) Map(dbias, dbias, dy, cols, [](auto s, auto g) HWY_ATTR { return hn::Add(s, g); });

    const float mean_g = Dot(dy, gain, cols) / static_cast<float>(cols);
    const float mean_gx = GainBackward(dgain, dy, gain, dx, cols);
    const auto mean_g_lanes = hn::Set(d, mean_g), mean_gx_lanes = hn::Set(d, mean_gx);
    ForVectors(
        d, cols,
        [&](Index i) HWY_ATTR {
          const auto g = hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, gain + i));
          const auto inner =
              hn::NegMulAdd(hn::LoadU(d, dx + i), mean_gx_lanes, hn::Sub(g, mean_g_lanes));
          hn::StoreU(hn::Mul(inner, factor), d, dx + i);
        },
        [&](Index i, std::size_t left) HWY_ATTR {
          for (std::size_t j = 0; j < left; ++j) {
            const Index at = i + static_cast<Index>(j);
            dx[at] = (dy[at] * gain[at] - mean_g - dx[at] * mean_gx) * inverse[row];
          }
        });
  }
}

void RmsNorm(float* y, float* inverse, const float* x, const float* gain, Index rows, Index cols,
             float epsilon) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, x += cols, y += cols) {
    inverse[row] = 1 / std::sqrt(Dot(x, x, cols) / static_cast<float>(cols) + epsilon);
    const auto factor = hn::Set(d, inverse[row]);
    Map(y, x, gain, cols,
        [factor](auto v, auto g) HWY_ATTR { return hn::Mul(hn::Mul(v, factor), g); });
  }
}

// With xhat = x * inverse and g = dy * gain: dx = inverse * (g - xhat * mean(g * xhat)). The last
// step is a loop of its own: it rounds every product, where the vectors of LayerNormBackward fuse
// one, and to change that would change the bits of trained weights.
void RmsNormBackward(float* dx, float* dgain, const float* dy, const float* x, const float* inverse,
                     const float* gain, Index rows, Index cols) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, dx += cols, dy += cols, x += cols) {
    const auto factor = hn::Set(d, inverse[row]);
    Map(dx, x, cols, [factor](auto v) HWY_ATTR { return hn::Mul(v, factor); });
    const float mean_gx = GainBackward(dgain, dy, gain, dx, cols);
    for (Index i = 0; i < cols; ++i) dx[i] = (dy[i] * gain[i] - dx[i] * mean_gx) * inverse[row];
  }
}

// A power of two that brings the largest of x near 1, where the sum of squares leaves the range of
// floats; 1 elsewhere.
float ScaleOf(const float* x, Index cols, float sum_of_squares) {
  using Limits = std::numeric_limits<float>;
  if (sum_of_squares >= Limits::min() && sum_of_squares <= Limits::max()) return 1;
  float largest = 0;
  for (Index i = 0; i < cols; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0 || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0f, std::clamp(-std::ilogb(largest), -126, 127));
}

float SumOfScaledSquares(const float* x, Index cols, FloatVec scale) {
  return SumOf(x, cols, [scale](auto v) HWY_ATTR {
    const auto scaled = hn::Mul(v, scale);
    return hn::Mul(scaled, scaled);
  });
}

void UnitVectors(float* y, float* inverse, const float* x, Index rows, Index cols) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, x += cols, y += cols) {
    const float sum = Dot(x, x, cols), length = std::sqrt(sum);
    inverse[row] = length == 0 ? 0 : 1 / length;
    const float scale = ScaleOf(x, cols, sum);
    const auto scales = hn::Set(d, scale);
    const auto factor =
        hn::Set(d, scale == 1 ? inverse[row] : 1 / std::sqrt(SumOfScaledSquares(x, cols, scales)));
    Map(y, x, cols,
        [scales, factor](auto v) HWY_ATTR { return hn::Mul(hn::Mul(v, scales), factor); });
  }
}

bool AllZero(const float* x, Index size) {
  return std::all_of(x, x + size, [](float value) { return value == 0; });
}

// dx = (dy - y (dy . y)) / |x|. Where dy is zero, so is dx, even if x is not finite: a cell that
// attention masks.
void UnitVectorsBackward(float* dx, const float* dy, const float* y, const float* inverse,
                         Index rows, Index cols) {
  const FloatTag d;
  for (Index row = 0; row < rows; ++row, dx += cols, dy += cols, y += cols) {
    if (AllZero(dy, cols)) {
      std::fill_n(dx, cols, 0.0f);
      continue;
    }
    const auto dot = hn::Set(d, Dot(dy, y, cols));
    const auto factor = hn::Set(d, inverse[row]);
    Map(dx, dy, y, cols, [dot, factor](auto g, auto v) HWY_ATTR {
      return hn::Mul(hn::NegMulAdd(v, dot, g), factor);
    });
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(LayerNorm);
HWY_EXPORT(LayerNormBackward);
HWY_EXPORT(RmsNorm);
HWY_EXPORT(RmsNormBackward);
HWY_EXPORT(UnitVectors);
HWY_EXPORT(UnitVectorsBackward);

void layer_norm(float* y, float* mean, float* inverse, const float* x, const float* gain,
                const float* bias, Index rows, Index cols, float epsilon) noexcept {
  HWY_DYNAMIC_DISPATCH(LayerNorm)(y, mean, inverse, x, gain, bias, rows, cols, epsilon);
}

void layer_norm_backward(float* dx, float* dgain, float* dbias, const float* dy, const float* x,
                         const float* mean, const float* inverse, const float* gain, Index rows,
                         Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(LayerNormBackward)(dx, dgain, dbias, dy, x, mean, inverse, gain, rows, cols);
}

void rms_norm(float* y, float* inverse, const float* x, const float* gain, Index rows, Index cols,
              float epsilon) noexcept {
  HWY_DYNAMIC_DISPATCH(RmsNorm)(y, inverse, x, gain, rows, cols, epsilon);
}

void rms_norm_backward(float* dx, float* dgain, const float* dy, const float* x,
                       const float* inverse, const float* gain, Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(RmsNormBackward)(dx, dgain, dy, x, inverse, gain, rows, cols);
}

void unit_vectors(float* y, float* inverse, const float* x, Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(UnitVectors)(y, inverse, x, rows, cols);
}

void unit_vectors_backward(float* dx, const float* dy, const float* y, const float* inverse,
                           Index rows, Index cols) noexcept {
  HWY_DYNAMIC_DISPATCH(UnitVectorsBackward)(dx, dy, y, inverse, rows, cols);
}

}  // namespace heed::kernels
#endif
