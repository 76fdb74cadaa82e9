// Argmax of a matrix-vector product in int16, without storing the product. Twice the products of
// floats in the same time, and only the two largest are stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "heed/base/index.h"

namespace heed::kernels {

// Rows of integers hold k of them, then zeros up to this length.
Index integer_row_size(Index k) noexcept;

// The integers nearest to scale * x, padded; none may be beyond 16 bits.
void to_integers(std::int16_t* to, const float* x, float scale, Index k) noexcept;

// Rows are packed in panels of this many.
Index integer_panel_rows() noexcept;

// The integers that n packed rows need. The panel that holds row j, a multiple of
// integer_panel_rows(), begins at packed + integer_packed_size(k, j).
Index integer_packed_size(Index k, Index n) noexcept;

// Packs rows [n, integer_row_size(k)].
void pack_integers(std::int16_t* packed, const std::int16_t* rows, Index k, Index n) noexcept;

struct TopTwo {
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();

  std::int32_t largest = none, second = none;
  Index row = 0;  // of the largest; any of those that are as large

  // The top two of these rows and of others.
  void merge(const TopTwo& others) {
    second = std::max({second, others.second, std::min(largest, others.largest)});
    if (others.largest <= largest) return;
    largest = others.largest;
    row = others.row;
  }
};

// For each of m rows of x [m, integer_row_size(k)], of its products with the n packed rows. The sum
// of a product must fit into 32 bits.
void integer_argmax(TopTwo* top, const std::int16_t* x, Index m, const std::int16_t* packed,
                    Index n, Index k) noexcept;

}  // namespace heed::kernels
