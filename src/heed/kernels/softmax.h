// Softmax of rows, and what the losses need of it.
#pragma once

#include <cstdint>

namespace heed::kernels {

// y = e^(x - max) / sum, row by row. A row of minus infinities gives zeros.
void softmax(float* y, const float* x, std::int64_t rows, std::int64_t cols) noexcept;
// y = e^(x - most) for x <= most: what a softmax, here and in attention, adds up.
void exp_below(float* y, const float* x, float most, std::int64_t count) noexcept;
// dx = y * (dy - sum(dy * y)).
void softmax_backward(float* dx, const float* dy, const float* y, std::int64_t rows,
                      std::int64_t cols) noexcept;

void log_softmax(float* y, const float* x, std::int64_t rows, std::int64_t cols) noexcept;
// dx = dy - e^y * sum(dy).
void log_softmax_backward(float* dx, const float* dy, const float* y, std::int64_t rows,
                          std::int64_t cols) noexcept;

// One row of logits z and its target -> the loss, and z replaced by the loss's gradient:
// softmax(z) - (1 - smoothing) [target] - smoothing / cols.
struct RowLoss {
  double smoothed;                 // -sum(q log p) for the smoothed target q
  double negative_log_likelihood;  // -log p(target)
};
RowLoss cross_entropy_row(float* z, std::int64_t cols, std::int64_t target,
                          float smoothing) noexcept;

// The same for a row whose logits are made part by part. A part of them becomes e^(z - most) ...
struct LogitsPart {
  float most;    // the largest of them; minus infinity if all are
  float sum;     // of e^(z - most)
  float shifts;  // the sum of z - most if it is wanted, as smoothing does; otherwise 0
};
LogitsPart take_logits_part(float* z, std::int64_t cols, bool wants_shifts) noexcept;
// ... and, when all parts are known, factor e - spread: softmax(z) - smoothing / cols.
void logits_part_gradient(float* e, float factor, float spread, std::int64_t cols) noexcept;

}  // namespace heed::kernels
