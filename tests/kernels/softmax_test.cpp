#include "heed/kernels/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace heed::kernels {
namespace {

// The gradient of a log-softmax is dy - e^y * sum(dy): for a row of zeros after one 1 it shows e^y
// as the kernels compute it.
std::vector<float> exponentials(const std::vector<float>& x) {
  std::vector<float> y{0.0f}, dy(x.size() + 1, 0.0f), dx(x.size() + 1);
  y.insert(y.end(), x.begin(), x.end());
  dy[0] = 1;
  log_softmax_backward(dx.data(), dy.data(), y.data(), 1, static_cast<std::int64_t>(y.size()));
  std::vector<float> result;
  for (std::size_t i = 1; i < dx.size(); ++i) result.push_back(-dx[i]);
  return result;
}

TEST(Softmax, ExponentialIsWithinTwoUnitsInTheLastPlace) {
  std::vector<float> x;
  for (float v = 0; v > -87.3f; v = std::nextafter(v, -1.0f) - 1e-4f) x.push_back(v);
  const std::vector<float> found = exponentials(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(static_cast<double>(x[i]));
    const float rounded = static_cast<float>(expected);
    const double unit = std::nextafter(rounded, 2.0f) - rounded;
    ASSERT_LE(std::abs(found[i] - expected), 2 * unit) << "e^" << x[i];
  }
}

TEST(Softmax, ExponentialAtTheEdges) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float far = std::numeric_limits<float>::max();
  const std::vector<float> found =
      exponentials({0.0f, -0.0f, -87.4f, -100, -1e9f, -far, -infinity, 1.0f, 88.0f});
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[1], 1);
  for (std::size_t i = 2; i < 7; ++i) EXPECT_EQ(found[i], 0) << i;
  EXPECT_FLOAT_EQ(found[7], std::exp(1.0f));
  EXPECT_FLOAT_EQ(found[8], std::exp(88.0f));
}

TEST(Softmax, ExponentialOfAnyNanIsNan) {
  std::vector<float> x{std::nanf("")};
  for (const char* payload : {"1", "255", "511", "0x3fffff"}) x.push_back(std::nanf(payload));
  for (const float value : exponentials(x)) EXPECT_TRUE(std::isnan(value));
}

TEST(Softmax, APartOfLogitsGivesItsMaximumSumAndShifts) {
  for (const bool is_masked : {false, true}) {
    for (const bool wants_shifts : {false, true}) {
      const float infinity = std::numeric_limits<float>::infinity();
      std::vector<float> z =
          is_masked ? std::vector<float>(5, -infinity) : std::vector<float>{1, 3, 3, 2, 3};
      const LogitsPart part = take_logits_part(z.data(), 5, wants_shifts);
      EXPECT_EQ(part.max, is_masked ? -infinity : 3);
      EXPECT_NEAR(part.sum, is_masked ? 0 : 3 + std::exp(-1.0) + std::exp(-2.0), 1e-5);
      EXPECT_EQ(part.shifts, !wants_shifts ? 0 : is_masked ? -infinity : -3);
      EXPECT_NEAR(z[0], is_masked ? 0 : std::exp(-2.0), 1e-6);
    }
  }
}

}  // namespace
}  // namespace heed::kernels
