// Operands of the kernels: pointers with their strides.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// Element (i, j) is data[i * row_stride + j * col_stride].
struct MatrixView {
  const float* data;
  Index row_stride;
  Index col_stride = 1;
};

// Contiguous rows: row i begins at data + i * stride.
struct RowsView {
  const float* data;
  Index stride;

  const float* row(Index i) const { return data + i * stride; }
  RowsView from(Index row, Index column = 0) const {
    return {data + row * stride + column, stride};
  }
  operator MatrixView() const { return {data, stride, 1}; }
};

// The same to write to.
struct RowsOut {
  float* data;
  Index stride;

  float* row(Index i) const { return data + i * stride; }
  RowsOut from(Index row, Index column = 0) const { return {data + row * stride + column, stride}; }
};

}  // namespace heed::kernels
