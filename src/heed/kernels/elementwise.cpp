#include "heed/kernels/elementwise.h"

#include <cmath>
#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/math-inl.h"
#include "heed/kernels/tanh-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

void Add(float* y, const float* a, const float* b, Index count) {
  Map(y, a, b, count, [](auto u, auto v) HWY_ATTR { return hn::Add(u, v); });
}

void Subtract(float* y, const float* a, const float* b, Index count) {
  Map(y, a, b, count, [](auto u, auto v) HWY_ATTR { return hn::Sub(u, v); });
}

void Multiply(float* y, const float* a, const float* b, Index count) {
  Map(y, a, b, count, [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); });
}

void AddScalar(float* y, const float* x, float value, Index count) {
  const auto a = hn::Set(FloatTag(), value);
  Map(y, x, count, [a](auto v) HWY_ATTR { return hn::Add(v, a); });
}

void Scale(float* y, const float* x, float factor, Index count) {
  const auto f = hn::Set(FloatTag(), factor);
  Map(y, x, count, [f](auto v) HWY_ATTR { return hn::Mul(v, f); });
}

void AddScaled(float* y, const float* x, float factor, Index count) {
  const auto f = hn::Set(FloatTag(), factor);
  Map(y, y, x, count, [f](auto u, auto v) HWY_ATTR { return hn::MulAdd(v, f, u); });
}

void AddRows(float* sums, const float* x, Index rows, Index cols, Index x_stride) {
  const FloatTag d;
  const Index lanes = hn::Lanes(d);
  Index j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    FloatVec sum[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[v] = hn::LoadU(d, sums + j + v * lanes);
    for (Index row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sum[v] = hn::Add(sum[v], hn::LoadU(d, x + row * x_stride + j + v * lanes));
    }
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) hn::StoreU(sum[v], d, sums + j + v * lanes);
  }
  for (Index row = 0; row < rows; ++row) {
    for (Index k = j; k < cols; ++k) sums[k] += x[row * x_stride + k];
  }
}

void Relu(float* y, const float* x, Index count) {
  const auto zero = hn::Zero(FloatTag());
  // Max(v, zero) would be 0 for NaN on x86 and NaN on Arm.
  Map(y, x, count, [zero](auto v) HWY_ATTR { return hn::IfThenZeroElse(hn::Le(v, zero), v); });
}

void ReluBackward(float* dx, const float* dy, const float* y, Index count) {
  const auto zero = hn::Zero(FloatTag());
  Map(dx, dy, y, count,
      [zero](auto g, auto v) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, zero), g); });
}

HWY_INLINE FloatVec Sigmoid(FloatVec x) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

void Silu(float* y, const float* x, Index count) {
  Map(y, x, count, [](auto v) HWY_ATTR { return hn::Mul(v, Sigmoid(v)); });
}

// d(x s)/dx = s + x s (1 - s), with s = sigmoid(x).
void SiluBackward(float* dx, const float* dy, const float* x, Index count) {
  const auto one = hn::Set(FloatTag(), 1.0f);
  Map(dx, dy, x, count, [one](auto g, auto v) HWY_ATTR {
    const auto s = Sigmoid(v);
    return hn::Mul(g, hn::MulAdd(hn::Mul(v, s), hn::Sub(one, s), s));
  });
}

struct NormalDistribution {
  FloatVec below;   // Phi(x), within a few units in the last place on either side
  FloatVec factor;  // e^(-x^2 / 2): the density but for its constant
};

// The tail Phi(-|x|) is e^(-x^2 / 2) times a function that falls slowly; that one is a polynomial
// in t = 1 / (1 + 0.35 |x|), the one whose largest relative error is least, 2^-25, up to |x|
// = 13.5. Beyond, the exponential is 0.
HWY_INLINE NormalDistribution Normal(FloatVec x) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const auto size = hn::Min(hn::Abs(x), hn::Set(d, 20.0f));
  // What rounding took from the square would be multiplied by it: up to 1e-5 of the result.
  const auto square = hn::Mul(size, size);
  const auto lost = hn::MulSub(size, size, square);
  const auto rounded = ExpNegative(d, hn::Neg(hn::Mul(half, square)));
  const auto factor = hn::NegMulAdd(hn::Mul(half, lost), rounded, rounded);

  const auto t = hn::Div(one, hn::MulAdd(size, hn::Set(d, 0.35f), one));
  auto tail = hn::Set(d, -0.029126178f);
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.14387377f));
  tail = hn::MulAdd(tail, t, hn::Set(d, -0.25550774f));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.15893288f));
  tail = hn::MulAdd(tail, t, hn::Set(d, -0.022939561f));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.10543393f));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.11985219f));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.13985911f));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.13962157f));
  tail = hn::Mul(hn::Mul(tail, t), factor);
  return {hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(one, tail), tail), factor};
}

// x Phi(x), with Phi the normal distribution.
void Gelu(float* y, const float* x, Index count) {
  Map(y, x, count, [](auto v) HWY_ATTR { return hn::Mul(v, Normal(v).below); });
}

// Phi(x) + x phi(x), with phi the density.
void GeluBackward(float* dx, const float* dy, const float* x, Index count) {
  const auto constant = hn::Set(FloatTag(), 0.39894228f);  // 1 / sqrt(2 pi)
  Map(dx, dy, x, count, [constant](auto g, auto v) HWY_ATTR {
    const NormalDistribution normal = Normal(v);
    return hn::Mul(g, hn::MulAdd(hn::Mul(v, normal.factor), constant, normal.below));
  });
}

// The approximation x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) is x sigmoid(2 u):
// 2 u is x (a + b x^2).
constexpr float gelu_tanh_a = 1.5957691f, gelu_tanh_b = 0.071354816f;

HWY_INLINE FloatVec GeluTanhSigmoid(FloatVec x) {
  const FloatTag d;
  const auto a = hn::Set(d, gelu_tanh_a), b = hn::Set(d, gelu_tanh_b);
  return Sigmoid(hn::Mul(x, hn::MulAdd(hn::Mul(x, x), b, a)));
}

void GeluTanh(float* y, const float* x, Index count) {
  Map(y, x, count, [](auto v) HWY_ATTR { return hn::Mul(v, GeluTanhSigmoid(v)); });
}

// s + x s (1 - s) (2 u)'.
void GeluTanhBackward(float* dx, const float* dy, const float* x, Index count) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), a = hn::Set(d, gelu_tanh_a), b = hn::Set(d, 3 * gelu_tanh_b);
  Map(dx, dy, x, count, [one, a, b](auto g, auto v) HWY_ATTR {
    const auto s = GeluTanhSigmoid(v);
    const auto slope = hn::MulAdd(hn::Mul(v, v), b, a);
    return hn::Mul(g, hn::MulAdd(hn::Mul(v, hn::Mul(s, hn::Sub(one, s))), slope, s));
  });
}

// x sigmoid(a x), another approximation of GELU.
constexpr float quick_gelu_a = 1.702f;

void QuickGelu(float* y, const float* x, Index count) {
  const auto a = hn::Set(FloatTag(), quick_gelu_a);
  Map(y, x, count, [a](auto v) HWY_ATTR { return hn::Mul(v, Sigmoid(hn::Mul(v, a))); });
}

// s + a x s (1 - s), with s = sigmoid(a x).
void QuickGeluBackward(float* dx, const float* dy, const float* x, Index count) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), a = hn::Set(d, quick_gelu_a);
  Map(dx, dy, x, count, [one, a](auto g, auto v) HWY_ATTR {
    const auto u = hn::Mul(v, a), s = Sigmoid(u);
    return hn::Mul(g, hn::MulAdd(hn::Mul(u, s), hn::Sub(one, s), s));
  });
}

// c tanh(x / c).
void Softcap(float* y, const float* x, float cap, Index count) {
  const FloatTag d;
  const auto c = hn::Set(d, cap), inverse = hn::Set(d, 1 / cap);
  Map(y, x, count, [c, inverse](auto v) HWY_ATTR { return hn::Mul(c, Tanh(hn::Mul(v, inverse))); });
}

// 1 - (y / c)^2.
void SoftcapBackward(float* dx, const float* dy, const float* y, float cap, Index count) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), inverse = hn::Set(d, 1 / cap);
  Map(dx, dy, y, count, [one, inverse](auto g, auto v) HWY_ATTR {
    const auto share = hn::Mul(v, inverse);
    return hn::Mul(g, hn::NegMulAdd(share, share, one));
  });
}

// The dropout mask of `count` elements, by their 16 random bits each: 0 or the scale. `count` is
// whole vectors.
HWY_INLINE void DropoutFactors(float* factors, const std::uint16_t* bits, Index count,
                               std::uint32_t threshold, float scale) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const auto below = hn::Set(di, static_cast<std::int32_t>(threshold) - 1);
  const auto kept = hn::Set(d, scale);
  for (Index i = 0; i < count; i += hn::Lanes(d)) {
    const auto stays = hn::Gt(hn::PromoteTo(di, hn::Load(d16, bits + i)), below);
    hn::Store(hn::IfThenElseZero(hn::RebindMask(d, stays), kept), d, factors + i);
  }
}

// The mask is generated a block at a time, and then multiplied in.
void AddDropout(float* y, const float* residual, const float* x, Index first, Index count,
                std::uint64_t key, std::uint32_t threshold, float scale) {
  constexpr Index block = 64;
  const FloatTag d;
  HWY_ALIGN float factors[block];
  HWY_ALIGN std::uint16_t sixteens[block];
  for (Index begin = 0; begin < count; begin += block) {
    const Index length = HWY_MIN(block, count - begin);
    for (Index word = 0; word < block / 4; ++word) {
      // The lowest 16 bits first, as little-endian memory has them.
      const std::uint64_t bits = random_bits(key, (first + begin) / 4 + word);
      std::memcpy(sixteens + 4 * word, &bits, sizeof(bits));
    }
    DropoutFactors(factors, sixteens, block, threshold, scale);
    if (residual == nullptr) {
      Map(y + begin, x + begin, factors, length, [](auto v, auto f) HWY_ATTR {
        return hn::IfThenElseZero(hn::Ne(f, hn::Zero(FloatTag())), hn::Mul(v, f));
      });
      continue;
    }
    ForVectors(
        d, length,
        [&](Index i) HWY_ATTR {
          const auto kept = hn::Mul(hn::LoadU(d, x + begin + i), hn::Load(d, factors + i));
          hn::StoreU(hn::Add(hn::LoadU(d, residual + begin + i), kept), d, y + begin + i);
        },
        [&](Index i, std::size_t left) HWY_ATTR {
          for (std::size_t j = 0; j < left; ++j) {
            const Index at = begin + i + static_cast<Index>(j);
            y[at] = residual[at] + x[at] * factors[i + static_cast<Index>(j)];
          }
        });
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Add);
HWY_EXPORT(Subtract);
HWY_EXPORT(Multiply);
HWY_EXPORT(AddScalar);
HWY_EXPORT(Scale);
HWY_EXPORT(AddScaled);
HWY_EXPORT(AddRows);
HWY_EXPORT(Relu);
HWY_EXPORT(ReluBackward);
HWY_EXPORT(Gelu);
HWY_EXPORT(GeluBackward);
HWY_EXPORT(GeluTanh);
HWY_EXPORT(GeluTanhBackward);
HWY_EXPORT(QuickGelu);
HWY_EXPORT(QuickGeluBackward);
HWY_EXPORT(Silu);
HWY_EXPORT(SiluBackward);
HWY_EXPORT(Softcap);
HWY_EXPORT(SoftcapBackward);
HWY_EXPORT(AddDropout);

void add(float* y, const float* a, const float* b, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Add)(y, a, b, count);
}

void subtract(float* y, const float* a, const float* b, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Subtract)(y, a, b, count);
}

void multiply(float* y, const float* a, const float* b, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Multiply)(y, a, b, count);
}

void add_scalar(float* y, const float* x, float value, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(AddScalar)(y, x, value, count);
}

void scale(float* y, const float* x, float factor, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Scale)(y, x, factor, count);
}

void add_scaled(float* y, const float* x, float factor, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(AddScaled)(y, x, factor, count);
}

void add_rows(float* sums, const float* x, Index rows, Index cols, Index x_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(AddRows)(sums, x, rows, cols, x_stride);
}

double sum(const float* x, Index count) noexcept {
  double total[4] = {};
  for (Index i = 0; i < count; ++i) total[i % 4] += x[i];
  return (total[0] + total[1]) + (total[2] + total[3]);
}

void relu(float* y, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Relu)(y, x, count);
}

void relu_backward(float* dx, const float* dy, const float* y, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(dx, dy, y, count);
}

void gelu(float* y, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Gelu)(y, x, count);
}

void gelu_backward(float* dx, const float* dy, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(GeluBackward)(dx, dy, x, count);
}

void gelu_tanh(float* y, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(GeluTanh)(y, x, count);
}

void gelu_tanh_backward(float* dx, const float* dy, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(GeluTanhBackward)(dx, dy, x, count);
}

void quick_gelu(float* y, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(QuickGelu)(y, x, count);
}

void quick_gelu_backward(float* dx, const float* dy, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(QuickGeluBackward)(dx, dy, x, count);
}

void silu(float* y, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Silu)(y, x, count);
}

void silu_backward(float* dx, const float* dy, const float* x, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(SiluBackward)(dx, dy, x, count);
}

void softcap(float* y, const float* x, float cap, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(Softcap)(y, x, cap, count);
}

void softcap_backward(float* dx, const float* dy, const float* y, float cap, Index count) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftcapBackward)(dx, dy, y, cap, count);
}

DropoutRule dropout_rule(float probability, std::uint64_t key) noexcept {
  return {key, static_cast<std::uint32_t>(std::lround(probability * 65536.0f))};
}

float dropout_scale(const DropoutRule& rule) noexcept {
  return 65536.0f / (65536.0f - static_cast<float>(rule.threshold));
}

void add_dropout(float* y, const float* residual, const float* x, Index first, Index count,
                 const DropoutRule& rule) noexcept {
  HWY_DYNAMIC_DISPATCH(AddDropout)
  (y, residual, x, first, count, rule.key, rule.threshold, dropout_scale(rule));
}

}  // namespace heed::kernels
#endif
