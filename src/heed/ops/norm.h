// Normalisation of rows.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

// x [N, D], gain [D], bias [D] or undefined -> (x - mean) / sqrt(variance + epsilon) * gain + bias.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float epsilon = 1e-5f);

// x [N, D], gain [D] -> x / sqrt(mean(x^2) + epsilon) * gain.
Tensor rms_norm(const Tensor& x, const Tensor& gain, float epsilon = 1e-5f);

// Each run of `width` elements divided by its length: x [N, H * width]. Zero vectors stay zero.
Tensor unit_vectors(const Tensor& x, Index width);

}  // namespace heed::ops
