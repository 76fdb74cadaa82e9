#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace heed {
namespace {

// Sum of (found - expected)^2 / expected over equal bins. For 255 degrees of freedom its mean is
// 255 and its deviation 22.6, so 150 to 370 leaves out less than one true generator in a million.
double chi_square(const std::vector<int>& bins, double expected) {
  double sum = 0;
  for (const int count : bins) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Random, EveryByteOfTheBitsIsEvenlySpread) {
  for (int shift = 0; shift < 64; shift += 8) {
    std::vector<int> bins(256, 0);
    for (std::uint64_t i = 0; i < 256000; ++i) ++bins[(random_bits(12345, i) >> shift) & 255];
    const double chi = chi_square(bins, 1000);
    EXPECT_GT(chi, 150) << "byte at bit " << shift;
    EXPECT_LT(chi, 370) << "byte at bit " << shift;
  }
}

TEST(Random, NeighbouringKeysAndCountersShareNothing) {
  // Two unrelated words of 64 bits differ in 32 on average, with a deviation of 4.
  double from_key = 0, from_counter = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    from_key += std::popcount(random_bits(random_key(1, i, 0), 5) ^
                              random_bits(random_key(1, i + 1, 0), 5));
    from_counter += std::popcount(random_bits(9, i) ^ random_bits(9, i + 1));
  }
  EXPECT_NEAR(from_key / 1000, 32, 0.8);
  EXPECT_NEAR(from_counter / 1000, 32, 0.8);
}

TEST(Random, KeysOfDifferentPlacesAreDifferent) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t step = 0; step < 20; ++step) {
      for (std::uint64_t place = 0; place < 20; ++place) {
        keys.insert(random_key(seed, step, place));
      }
    }
  }
  EXPECT_EQ(keys.size(), 4000u);
}

TEST(Random, TheSameKeyGivesTheSameSequence) {
  Rng a(42), b(42), c(43);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t number = a.next();
    EXPECT_EQ(number, b.next());
    EXPECT_EQ(number, random_bits(42, i));
    EXPECT_NE(number, c.next());
  }
}

TEST(Random, UniformNumbersLieInTheirRange) {
  Rng rng(3);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Random, NumbersBelowACountReachAllOfItEvenly) {
  Rng rng(4);
  std::vector<int> bins(256, 0);
  for (int i = 0; i < 256000; ++i) {
    const std::uint64_t number = rng.below(256);
    ASSERT_LT(number, 256u);
    ++bins[number];
  }
  EXPECT_LT(chi_square(bins, 1000), 370);
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheBell) {
  Rng rng(5);
  const int count = 200000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.15);
}

}  // namespace
}  // namespace heed
