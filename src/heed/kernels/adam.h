// One update of Adam, and the sum of squares that clipping needs.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// The numbers of one update, the same for every element.
struct AdamStep {
  float gradient_scale;   // the gradient is multiplied by this first
  float l2;               // times the weight, added to the gradient (Adam's weight decay)
  float keep;             // the weight is multiplied by this (AdamW's decay: 1 - rate * decay)
  float beta1;            // of the mean of gradients
  float beta2;            // of the mean of squares
  float step_size;        // learning rate / (1 - beta1^t)
  float root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

// weight, mean and square change; all [n].
void adam(float* weight, float* mean, float* square, const float* gradient, Index n,
          const AdamStep& step) noexcept;

// In double, in an order that depends on n alone.
double sum_of_squares(const float* x, Index n) noexcept;

// average = keep * average + (1 - keep) * weight, for the moving average of weights.
void move_average(float* average, const float* weight, Index n, float keep) noexcept;

}  // namespace heed::kernels
