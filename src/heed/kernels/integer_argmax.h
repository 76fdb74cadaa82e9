// Which row of a weight has the largest product with a vector, in integers of 16 bits: twice the
// products of floats in the same time, and nothing is stored of them but the two largest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heed::kernels {

// Rows of integers begin with k of them and go on with zeros to this length.
std::int64_t integer_row_size(std::int64_t k) noexcept;

// The integers nearest to scale * x, padded; none may be beyond 16 bits.
void to_integers(std::int16_t* to, const float* x, float scale, std::int64_t k) noexcept;

// Rows are packed in panels of this many.
std::int64_t integer_panel_rows() noexcept;

// The integers that n packed rows need. The panel that holds row j, a multiple of
// integer_panel_rows(), begins at packed + integer_packed_size(k, j).
std::int64_t integer_packed_size(std::int64_t k, std::int64_t n) noexcept;

// Packs rows [n, integer_row_size(k)].
void pack_integers(std::int16_t* packed, const std::int16_t* rows, std::int64_t k,
                   std::int64_t n) noexcept;

struct TopTwo {
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();

  std::int32_t largest = none, second = none;
  std::int64_t row = 0;  // of the largest; any of those that are as large

  // Those of other rows come to them.
  void join(const TopTwo& others) {
    second = std::max({second, others.second, std::min(largest, others.largest)});
    if (others.largest <= largest) return;
    largest = others.largest;
    row = others.row;
  }
};

// For each of m rows of x [m, integer_row_size(k)], of its products with the n packed rows. The sum
// of a product must fit into 32 bits.
void integer_argmax(TopTwo* found, const std::int16_t* x, std::int64_t m,
                    const std::int16_t* packed, std::int64_t n, std::int64_t k) noexcept;

}  // namespace heed::kernels
