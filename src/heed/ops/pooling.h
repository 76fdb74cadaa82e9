// One vector for each sequence.
#pragma once

#include "heed/core/spans.h"

namespace heed::ops {

// x [N, D] -> the mean of each sequence's rows, [S, D]. Refuses an empty sequence.
Tensor mean_rows(const Packed& x);

}  // namespace heed::ops
