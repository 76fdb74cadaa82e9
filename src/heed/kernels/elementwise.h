// Functions of single elements over runs of floats. Outputs may be the inputs themselves.
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

void add(float* y, const float* a, const float* b, Index count) noexcept;
void subtract(float* y, const float* a, const float* b, Index count) noexcept;
void multiply(float* y, const float* a, const float* b, Index count) noexcept;
void add_scalar(float* y, const float* x, float value, Index count) noexcept;
void scale(float* y, const float* x, float factor, Index count) noexcept;
void add_scaled(float* y, const float* x, float factor,
                Index count) noexcept;  // y += factor x
// sums [cols] += every row of x [rows, cols], first to last.
void add_rows(float* sums, const float* x, Index rows, Index cols, Index x_stride) noexcept;
double sum(const float* x, Index count) noexcept;

void relu(float* y, const float* x, Index count) noexcept;
void relu_backward(float* dx, const float* dy, const float* y, Index count) noexcept;
void gelu(float* y, const float* x, Index count) noexcept;
void gelu_backward(float* dx, const float* dy, const float* x, Index count) noexcept;
void gelu_tanh(float* y, const float* x, Index count) noexcept;
void gelu_tanh_backward(float* dx, const float* dy, const float* x, Index count) noexcept;
void quick_gelu(float* y, const float* x, Index count) noexcept;
void quick_gelu_backward(float* dx, const float* dy, const float* x, Index count) noexcept;
void silu(float* y, const float* x, Index count) noexcept;
void silu_backward(float* dx, const float* dy, const float* x, Index count) noexcept;
// y = c tanh(x / c).
void softcap(float* y, const float* x, float cap, Index count) noexcept;
void softcap_backward(float* dx, const float* dy, const float* y, float cap, Index count) noexcept;

// The elements that a dropout keeps: element e has 16 bits of random_bits(key, e / 4), and stays if
// they are at least `threshold`. What stays is multiplied by 65536 / (65536 - threshold).
struct DropoutRule {
  std::uint64_t key;
  std::uint32_t threshold;
};
DropoutRule dropout_rule(float probability, std::uint64_t key) noexcept;
float dropout_scale(const DropoutRule& rule) noexcept;

// y = (residual or nothing) + dropout(x), for elements [first, first + count) of a tensor. `first`
// is a multiple of 4; residual may be null.
void add_dropout(float* y, const float* residual, const float* x, Index first, Index count,
                 const DropoutRule& rule) noexcept;

}  // namespace heed::kernels
