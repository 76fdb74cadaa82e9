// Softmax of rows, and the cross-entropy losses that rest on it.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// y = e^(x - max) / sum, row by row. A row of minus infinities gives zeros.
void softmax(float* y, const float* x, Index rows, Index cols) noexcept;
// y = e^(x - max) for x <= max: the terms of a softmax's sum, here and in attention.
void exp_below(float* y, const float* x, float max, Index count) noexcept;
// dx = y * (dy - sum(dy * y)).
void softmax_backward(float* dx, const float* dy, const float* y, Index rows, Index cols) noexcept;

void log_softmax(float* y, const float* x, Index rows, Index cols) noexcept;
// dx = dy - e^y * sum(dy).
void log_softmax_backward(float* dx, const float* dy, const float* y, Index rows,
                          Index cols) noexcept;

// One row of logits z and its target -> the loss, and z replaced by the loss's gradient:
// softmax(z) - (1 - smoothing) [target] - smoothing / cols.
struct RowLoss {
  double smoothed;                 // -sum(q log p) for the smoothed target q
  double negative_log_likelihood;  // -log p(target)
};
RowLoss cross_entropy_row(float* z, Index cols, Index target, float smoothing) noexcept;

// The same for a row whose logits are computed part by part. Such a part becomes e^(z - max) ...
struct LogitsPart {
  float max;     // the largest of them; minus infinity if all are
  float sum;     // of e^(z - max)
  float shifts;  // the sum of z - max if wanted, for label smoothing; otherwise 0
};
LogitsPart take_logits_part(float* z, Index cols, bool wants_shifts) noexcept;
// ... and, when all parts are known, factor e - spread: softmax(z) - smoothing / cols.
void logits_part_gradient(float* e, float factor, float spread, Index cols) noexcept;

}  // namespace heed::kernels
