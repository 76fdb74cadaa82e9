// One vector for each sequence.
#pragma once

#include "heed/core/spans.h"

namespace heed::ops {

// x [N, D] -> the mean of each sequence's rows, [S, D]. Refuses an empty sequence.
Tensor mean_rows(const Packed& x);

// The largest number of each column of each sequence, [S, D]; of equal ones, the gradient is that
// of the first. Refuses an empty sequence.
Tensor max_rows(const Packed& x);

}  // namespace heed::ops
