// Functions of single elements. All tensors of one call have the same shape.
#pragma once

#include <cstdint>

#include "heed/core/tensor.h"

namespace heed::ops {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor add_scalar(const Tensor& x, float value);
Tensor scale(const Tensor& x, float factor);
Tensor sum(const Tensor& x);  // all elements -> []
Tensor reshape(const Tensor& x, const Shape& shape);

Tensor relu(const Tensor& x);
enum class GeluForm { exact, tanh };  // x * Phi(x), or its approximation by tanh
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact);
Tensor quick_gelu(const Tensor& x);  // x * sigmoid(1.702 x)
Tensor silu(const Tensor& x);        // x * sigmoid(x)
Tensor tanh(const Tensor& x);
Tensor softcap(const Tensor& x, float cap);               // cap * tanh(x / cap)
Tensor swiglu(const Tensor& gate, const Tensor& values);  // silu(gate) * values

// The probability of a dropout, and the key of its random numbers.
struct Dropout {
  float probability = 0;  // in [0, 1), rounded to a multiple of 1/65536
  std::uint64_t key = 0;  // random_key(seed, step, place)
};

// Zeroes elements at random and scales the others by 1 / (1 - p). p = 0 gives x itself.
Tensor dropout(const Tensor& x, const Dropout& options);
// residual + dropout(x), in one pass.
Tensor add_dropout(const Tensor& residual, const Tensor& x, const Dropout& options);

}  // namespace heed::ops
