// One row of logits as log-probabilities, without storing them.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// log_softmax(x)[i] is (x[i] - max) - logsumexp, with the same bits as kernels::log_softmax.
struct LogSoftmaxShift {
  float max = 0;
  float logsumexp = 0;  // of x - max
};

LogSoftmaxShift log_softmax_shift(const float* x, Index count) noexcept;

// The first i in [begin, end) whose log-probability is above the threshold; `end` if there is none.
Index first_above(const float* x, Index begin, Index end, const LogSoftmaxShift& shift,
                  float threshold) noexcept;

}  // namespace heed::kernels
