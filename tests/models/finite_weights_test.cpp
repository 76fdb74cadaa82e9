#include "heed/models/finite_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/half.h"
#include "heed/base/parallel.h"

namespace heed::models {
namespace {

using Limits = std::numeric_limits<float>;

TEST(FiniteWeights, EveryFiniteNumberPasses) {
  EXPECT_FALSE(first_not_finite(std::span<const float>()));
  const std::vector<float> values{
      0, -0.0f, 1, -1, Limits::max(), Limits::lowest(), Limits::denorm_min(), Limits::min()};
  EXPECT_FALSE(first_not_finite(values));
}

TEST(FiniteWeights, TheFirstWrongNumberIsFoundWhereverItStands) {
  const int before = num_threads();
  for (const Index size : {1, 5, 65'536, 65'537, 200'000}) {
    for (const Index place : {Index{0}, size / 2, size - 1}) {
      for (const float wrong : {NAN, -NAN, INFINITY, -INFINITY}) {
        std::vector<float> values(static_cast<std::size_t>(size), -2.5f);
        values.back() = NAN;
        values[static_cast<std::size_t>(place)] = wrong;
        for (const int threads : {1, 3}) {
          set_num_threads(threads);
          EXPECT_EQ(first_not_finite(values), place) << size;
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(FiniteWeights, AllHalvesAreTold) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    EXPECT_EQ(first_not_finite(std::span(&half, 1), float16_exponent).has_value(),
              !std::isfinite(float16_to_float(half)));
    EXPECT_EQ(first_not_finite(std::span(&half, 1), bfloat16_exponent).has_value(),
              !std::isfinite(bfloat16_to_float(half)));
  }
}

}  // namespace
}  // namespace heed::models
