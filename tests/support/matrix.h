// A plain matrix of doubles or Reals: what the references read and return.
#pragma once

#include <vector>

#include "heed/base/index.h"

namespace heed::reference {

// A tensor of any rank is read as rows of its last axis; a single number is one row of one column.
template <typename T>
struct Matrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<T> values;

  Matrix() = default;
  Matrix(Index rows, Index cols) : rows(rows), cols(cols), values(rows * cols, T(0.0)) {}

  T& operator()(Index row, Index col) { return values[row * cols + col]; }
  const T& operator()(Index row, Index col) const { return values[row * cols + col]; }
};

template <typename T>
using Matrices = std::vector<Matrix<T>>;

// The same function at every element.
template <typename T, typename Function>
Matrix<T> map(const Matrix<T>& x, Function&& function) {
  Matrix<T> y(x.rows, x.cols);
  for (std::size_t i = 0; i < x.values.size(); ++i) y.values[i] = function(x.values[i]);
  return y;
}

}  // namespace heed::reference
