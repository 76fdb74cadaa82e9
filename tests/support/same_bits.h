// Comparisons that allow no difference at all.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "heed/core/tensor.h"

namespace heed {

inline std::vector<float> values_of(const Tensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

// Rows [begin, begin + count) of a matrix.
inline Tensor rows_of(const Tensor& matrix, Index begin, Index count) {
  const Index cols = matrix.dim(-1);
  return Tensor::from(matrix.values().subspan(begin * cols, count * cols), {count, cols});
}

inline testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) {
    return testing::AssertionFailure() << "shapes " << a.shape() << " and " << b.shape();
  }
  for (Index i = 0; i < a.size(); ++i) {
    const float x = a.values()[i], y = b.values()[i];
    if (std::bit_cast<std::uint32_t>(x) != std::bit_cast<std::uint32_t>(y)) {
      return testing::AssertionFailure() << "element " << i << ": " << x << " and " << y;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace heed
