// Normalisation of rows. The statistics are kept for the backward.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// y = (x - mean) * inverse * gain + bias (bias may be null), inverse = 1 / sqrt(variance +
// epsilon).
void layer_norm(float* y, float* mean, float* inverse, const float* x, const float* gain,
                const float* bias, Index rows, Index cols, float epsilon) noexcept;
// Adds to dgain and dbias [cols] (dbias may be null), sets dx.
void layer_norm_backward(float* dx, float* dgain, float* dbias, const float* dy, const float* x,
                         const float* mean, const float* inverse, const float* gain, Index rows,
                         Index cols) noexcept;

// y = x * inverse * gain, inverse = 1 / sqrt(mean(x^2) + epsilon).
void rms_norm(float* y, float* inverse, const float* x, const float* gain, Index rows, Index cols,
              float epsilon) noexcept;
void rms_norm_backward(float* dx, float* dgain, const float* dy, const float* x,
                       const float* inverse, const float* gain, Index rows, Index cols) noexcept;

// y = x / |x|, for vectors of any length. inverse = 1 / |x|; 0 for a zero vector, and for one whose
// |x|^2 is zero or infinity as a float, which so gets no gradient.
void unit_vectors(float* y, float* inverse, const float* x, Index rows, Index cols) noexcept;
void unit_vectors_backward(float* dx, const float* dy, const float* y, const float* inverse,
                           Index rows, Index cols) noexcept;

}  // namespace heed::kernels
