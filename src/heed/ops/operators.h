// Arithmetic of tensors as formulas write it: y = 2 * x - mean. Differentiable, element by element;
// two tensors have the same shape.
#pragma once

#include "heed/ops/elementwise.h"

namespace heed {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::multiply(a, b); }

inline Tensor operator+(const Tensor& x, float value) { return ops::add_scalar(x, value); }
inline Tensor operator+(float value, const Tensor& x) { return ops::add_scalar(x, value); }
inline Tensor operator-(const Tensor& x, float value) { return ops::add_scalar(x, -value); }
inline Tensor operator-(float value, const Tensor& x) {
  return ops::add_scalar(ops::scale(x, -1), value);
}
inline Tensor operator*(const Tensor& x, float factor) { return ops::scale(x, factor); }
inline Tensor operator*(float factor, const Tensor& x) { return ops::scale(x, factor); }
inline Tensor operator-(const Tensor& x) { return ops::scale(x, -1); }

}  // namespace heed
