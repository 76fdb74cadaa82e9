#include "heed/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// What the bits mean, by the definition of binary16.
double float16_by_definition(int bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::nan("") : sign * infinity;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, EveryFloat16HasTheValueOfItsDefinition) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float value = float16_to_float(static_cast<std::uint16_t>(bits));
    const double expected = float16_by_definition(bits);
    ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected))) << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << bits;
  }
}

TEST(Half, EveryFloat16AndBfloat16ComesBackFromFloat) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(float16_to_float(half))) {
      ASSERT_EQ(float_to_float16(float16_to_float(half)), half);
    }
    if (!std::isnan(bfloat16_to_float(half))) {
      ASSERT_EQ(float_to_bfloat16(bfloat16_to_float(half)), half);
    }
  }
}

// Between each two neighbours: a little below the middle goes down, a little above goes up, and the
// middle goes to the even one.
template <typename ToFloat, typename FromFloat>
void expect_rounds_to_nearest_even(int last, ToFloat to_float, FromFloat from_float) {
  for (int bits = 0; bits < last; ++bits) {
    const auto below = static_cast<std::uint16_t>(bits);
    const auto above = static_cast<std::uint16_t>(bits + 1);
    const float middle = (to_float(below) + to_float(above)) / 2;  // exact: one more bit
    ASSERT_EQ(from_float(std::nextafter(middle, 0.0f)), below) << bits;
    ASSERT_EQ(from_float(middle), bits % 2 ? above : below) << bits;
    ASSERT_EQ(from_float(std::nextafter(middle, infinity)), above) << bits;
    ASSERT_EQ(from_float(-middle), (bits % 2 ? above : below) | 0x8000) << bits;
  }
}

TEST(Half, RoundsToNearestEven) {
  expect_rounds_to_nearest_even(0x7bff, float16_to_float, float_to_float16);
  // From the first normal bfloat16 on: below it, floats cannot hold the middle.
  for (int bits : {0x0080, 0x3f80, 0x3f81, 0x7f00}) {
    const float low = bfloat16_to_float(static_cast<std::uint16_t>(bits));
    const float high = bfloat16_to_float(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    EXPECT_EQ(float_to_bfloat16(middle), bits % 2 ? bits + 1 : bits);
    EXPECT_EQ(float_to_bfloat16(std::nextafter(middle, infinity)), bits + 1);
    EXPECT_EQ(float_to_bfloat16(std::nextafter(middle, 0.0f)), bits);
  }
}

TEST(Half, TheLargestValuesBecomeInfinityOnlyWhenNearer) {
  EXPECT_EQ(float_to_float16(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_float16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(float_to_float16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_float16(65536.0f), 0x7c00);
  EXPECT_EQ(float_to_float16(-infinity), 0xfc00);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bfloat16(-infinity), 0xff80);
}

TEST(Half, NanStaysNan) {
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  const float lowest_bit_only = std::bit_cast<float>(0x7f800001u);
  for (const float nan : {quiet, -quiet, lowest_bit_only}) {
    EXPECT_TRUE(std::isnan(float16_to_float(float_to_float16(nan))));
    EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(nan))));
  }
}

}  // namespace
}  // namespace heed
