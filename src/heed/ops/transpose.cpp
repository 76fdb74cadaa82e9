#include "heed/ops/transpose.h"

#include <algorithm>

#include "heed/base/parallel.h"

namespace heed::ops {

void transpose(float* y, Index y_stride, const float* x, Index x_stride, Index rows, Index cols) {
  constexpr Index tile = 16;  // a line of the cache each way
  parallel_ranges(cols, 8 * tile, [&](Index first, Index last) {
    for (Index column = first; column < last; column += tile) {
      const Index end = std::min(column + tile, last);
      for (Index row = 0; row < rows; row += tile) {
        for (Index j = column; j < end; ++j) {
          for (Index i = row; i < std::min(row + tile, rows); ++i) {
            y[j * y_stride + i] = x[i * x_stride + j];
          }
        }
      }
    }
  });
}

}  // namespace heed::ops
