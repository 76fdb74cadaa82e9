#include "heed/kernels/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/random.h"

namespace heed::kernels {
namespace {

std::vector<float> sample(std::int64_t n, std::uint64_t key) {
  Rng rng(key);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

TEST(Adam, MatchesTheFormulaAtAwkwardSizes) {
  const AdamStep step{.gradient_scale = 0.5f,
                      .l2 = 0.01f,
                      .keep = 0.99f,
                      .beta1 = 0.9f,
                      .beta2 = 0.98f,
                      .step_size = 0.01f,
                      .root_correction = 1.5f,
                      .epsilon = 1e-6f};
  for (const std::int64_t n : {1, 2, 7, 8, 16, 17, 33, 100}) {
    auto weight = sample(n, 1), mean = sample(n, 2), square = sample(n, 3);
    const auto gradient = sample(n, 4);
    for (float& value : square) value *= value;
    const auto w0 = weight, m0 = mean, v0 = square;
    adam(weight.data(), mean.data(), square.data(), gradient.data(), n, step);
    for (std::int64_t i = 0; i < n; ++i) {
      const double g = 0.5 * gradient[i] + 0.01 * w0[i];
      const double m = 0.9 * m0[i] + 0.1 * g;
      const double v = 0.98 * v0[i] + 0.02 * g * g;
      const double w = 0.99 * w0[i] - 0.01 * m / (1.5 * std::sqrt(v) + 1e-6);
      EXPECT_NEAR(mean[i], m, 1e-6) << n << ' ' << i;
      EXPECT_NEAR(square[i], v, 1e-5) << n << ' ' << i;
      EXPECT_NEAR(weight[i], w, 1e-5) << n << ' ' << i;
    }
  }
}

TEST(SumOfSquares, IsExactToDoubleAtAwkwardSizes) {
  for (const std::int64_t n : {0, 1, 3, 8, 9, 31, 1000}) {
    const auto x = sample(n, 5);
    double expected = 0;
    for (const float value : x) expected += static_cast<double>(value) * value;
    EXPECT_NEAR(sum_of_squares(x.data(), n), expected, 1e-12 * (1 + expected)) << n;
  }
}

TEST(SumOfSquares, OfHugeNumbersDoesNotOverflow) {
  const std::vector<float> x(20, 1e30f);
  EXPECT_NEAR(sum_of_squares(x.data(), 20) / 20e60, 1, 1e-6);
}

TEST(MoveAverage, MatchesTheFormulaAtAwkwardSizes) {
  for (const std::int64_t n : {1, 9, 40}) {
    auto average = sample(n, 6);
    const auto before = average, weight = sample(n, 7);
    move_average(average.data(), weight.data(), n, 0.75f);
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(average[i], 0.75 * before[i] + 0.25 * weight[i], 1e-6);
    }
  }
}

}  // namespace
}  // namespace heed::kernels
