// One row of logits as log-probabilities, without writing them down.
#pragma once

#include <cstdint>

namespace heed::kernels {

// log_softmax(x)[i] is (x[i] - most) - log_sum, with the same bits as kernels::log_softmax.
struct LogSoftmaxShift {
  float most = 0;
  float log_sum = 0;
};

LogSoftmaxShift log_softmax_shift(const float* x, std::int64_t count) noexcept;

// The first i in [begin, end) whose log-probability is above the threshold; `end` if there is none.
std::int64_t first_above(const float* x, std::int64_t begin, std::int64_t end,
                         const LogSoftmaxShift& shift, float threshold) noexcept;

}  // namespace heed::kernels
