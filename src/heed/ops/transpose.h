#pragma once

#include "heed/base/index.h"

namespace heed::ops {

// y [cols, rows] = x [rows, cols] transposed, over all threads, without a record.
void transpose(float* y, Index y_stride, const float* x, Index x_stride, Index rows, Index cols);

}  // namespace heed::ops
