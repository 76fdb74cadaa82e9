#include "heed/kernels/integer_argmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"

namespace heed::kernels {
namespace {

using std::int16_t, std::int64_t;

constexpr int64_t least = std::numeric_limits<std::int32_t>::min();

// Rows of k numbers and the zeros after them.
std::vector<int16_t> padded(const std::vector<int16_t>& rows, int64_t k) {
  const int64_t size = integer_row_size(k);
  std::vector<int16_t> wide(rows.size() / k * size, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) wide[i / k * size + i % k] = rows[i];
  return wide;
}

std::vector<int16_t> random_rows(int64_t count, int from, int to, Rng& rng) {
  std::vector<int16_t> numbers(count);
  for (int16_t& number : numbers) {
    number = static_cast<int16_t>(from + static_cast<int>(rng.below(to - from + 1)));
  }
  return numbers;
}

std::vector<TopTwo> found(const std::vector<int16_t>& x, const std::vector<int16_t>& rows,
                          int64_t k) {
  const int64_t m = std::ssize(x) / k, n = std::ssize(rows) / k;
  std::vector<int16_t> packed(integer_packed_size(k, n));
  pack_integers(packed.data(), padded(rows, k).data(), k, n);
  std::vector<TopTwo> result(m);
  integer_argmax(result.data(), padded(x, k).data(), m, packed.data(), n, k);
  return result;
}

void expect_as_one_by_one(const std::vector<int16_t>& x, const std::vector<int16_t>& rows,
                          int64_t k) {
  const std::vector<TopTwo> result = found(x, rows, k);
  for (std::size_t i = 0; i < result.size(); ++i) {
    int64_t largest = least, second = least;
    std::vector<int64_t> products;
    for (std::size_t j = 0; j < rows.size() / k; ++j) {
      int64_t sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += int64_t{x[i * k + l]} * rows[j * k + l];
      products.push_back(sum);
      second = std::max(second, std::min(sum, largest));
      largest = std::max(largest, sum);
    }
    EXPECT_EQ(result[i].largest, largest);
    EXPECT_EQ(result[i].second, second);
    EXPECT_EQ(products.at(result[i].row), largest);
  }
}

TEST(LargestProduct, EqualsTheProductsOneByOne) {
  Rng rng(1);
  for (const int64_t k : {1, 2, 7, 64, 129}) {
    for (const int64_t n : {1, 2, 15, 32, 33, 100}) {
      for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 60, 61, 130}) {
        SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
        expect_as_one_by_one(random_rows(m * k, -2000, 2000, rng),
                             random_rows(n * k, -2000, 2000, rng), k);
      }
    }
  }
}

TEST(LargestProduct, CountsNothingBehindTheLastRow) {
  Rng rng(2);
  for (const int64_t n : {1, 17, 40}) {  // all below the zeros of padding
    expect_as_one_by_one(random_rows(8 * 10, 1, 50, rng), random_rows(n * 10, -50, -1, rng), 10);
  }
}

TEST(LargestProduct, OfNumbersAtTheEndOfTheirRange) {
  const std::vector<int16_t> x{32767, -32768, -32768, 32767};
  expect_as_one_by_one(x, {32767, 32767, -32768, 0, 0, -32768, 32767, -32767}, 2);
}

TEST(LargestProduct, OfEqualRowsIsAsLargeAsTheSecond) {
  const TopTwo both = found({3, 4}, {1, 1, 5, 6, 0, 0, 5, 6}, 2)[0];
  EXPECT_EQ(both.largest, 39);
  EXPECT_EQ(both.second, 39);
  EXPECT_TRUE(both.row == 1 || both.row == 3);
}

TEST(LargestProduct, IntegersAreTheNearestOnesWithZerosBehind) {
  std::vector<float> x;
  for (int i = 0; i < 37; ++i) x.push_back(static_cast<float>(i * 0.37 - 5));
  std::vector<int16_t> integers(integer_row_size(37), 99);
  to_integers(integers.data(), x.data(), 3, 37);
  for (int i = 0; i < 37; ++i) EXPECT_EQ(integers[i], std::lround(x[i] * 3)) << i;
  EXPECT_EQ(integers[37], 0);
}

}  // namespace
}  // namespace heed::kernels
