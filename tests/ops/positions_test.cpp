#include "heed/ops/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/ops/matmul.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

const std::vector<Index> lengths = {3, 1, 4};

TEST(SinusoidalTable, FollowsTheFormula) {
  const Tensor table = ops::sinusoidal_table(50, 6);
  EXPECT_EQ(table.shape(), (Shape{50, 6}));
  for (Index position : {0, 1, 49}) {
    for (Index i = 0; i < 3; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2 * static_cast<double>(i) / 6);
      EXPECT_NEAR(table.values()[position * 6 + 2 * i], std::sin(angle), 1e-5);
      EXPECT_NEAR(table.values()[position * 6 + 2 * i + 1], std::cos(angle), 1e-5);
    }
  }
}

TEST(SinusoidalTable, InHalvesHasAllSinesBeforeAllCosines) {
  for (const Index dim : {6, 7}) {
    const Tensor interleaved = ops::sinusoidal_table(5, dim);
    const Tensor halves = ops::sinusoidal_table(5, dim, ops::SinusoidOrder::halves);
    const Index num_sines = (dim + 1) / 2;
    for (Index row = 0; row < 5; ++row) {
      for (Index i = 0; i < dim; ++i) {
        const Index column = i < num_sines ? 2 * i : 2 * (i - num_sines) + 1;
        EXPECT_EQ(halves.values()[row * dim + i], interleaved.values()[row * dim + column]);
      }
    }
  }
}

TEST(SinusoidalTable, InWholeHalvesEndsWithTheLowestFrequency) {
  const Tensor table = ops::sinusoidal_table(5, 9, ops::SinusoidOrder::whole_halves);
  for (Index position = 0; position < 5; ++position) {
    for (Index i = 0; i < 4; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i) / 3);
      const double angle = static_cast<double>(position) * frequency;
      EXPECT_NEAR(table.values()[position * 9 + i], std::sin(angle), 1e-7);
      EXPECT_NEAR(table.values()[position * 9 + 4 + i], std::cos(angle), 1e-7);
    }
    EXPECT_EQ(table.values()[position * 9 + 8], 0);
  }
  const Tensor smallest = ops::sinusoidal_table(2, 2, ops::SinusoidOrder::whole_halves);
  EXPECT_EQ(smallest.values()[3], static_cast<float>(std::cos(1.0)));
}

TEST(SinusoidalTable, LongTablesBeginAsShortOnes) {
  EXPECT_TRUE(
      same_bits(rows_of(ops::sinusoidal_table(3000, 10), 0, 7), ops::sinusoidal_table(7, 10)));
}

TEST(SinusoidalTable, FarPositionsStayExact) {
  const Tensor table = ops::sinusoidal_table(20000, 4);
  EXPECT_NEAR(table.values()[19999 * 4], std::sin(19999.0), 1e-5);
  EXPECT_NEAR(table.values()[19999 * 4 + 3], std::cos(199.99), 1e-5);
}

TEST(AddPositions, ValuesAndGradientsMatchTheReference) {
  const Spans spans = Spans::of_lengths(lengths);
  const std::vector<Index> first = {2, 0, 5};
  for (const Index dim : {1, 5, 17}) {
    SCOPED_TRACE(dim);
    const Inputs inputs = {sample({8, dim}), sample({9, dim}, 2)};
    expect_matches_reference(
        [&](const Inputs& in) {
          return ops::add_positions({in[0], spans}, in[1]);
        },
        [&](const auto& in) { return reference::add_positions(in[0], in[1], spans); }, inputs);
    expect_matches_reference(
        [&](const Inputs& in) {
          return ops::add_positions({in[0], spans}, in[1], first);
        },
        [&](const auto& in) { return reference::add_positions(in[0], in[1], spans, first); },
        inputs);
  }
}

TEST(AddPositions, RefusesPositionsThatTheTableDoesNotHave) {
  const Packed x{Tensor::zeros({8, 2}), Spans::of_lengths(lengths)};
  EXPECT_THROW(ops::add_positions(x, Tensor::zeros({3, 2})), Error);
  EXPECT_THROW(ops::add_positions(x, Tensor::zeros({4, 2}), std::vector<Index>{0, 4, 0}), Error);
  EXPECT_THROW(ops::add_positions(x, Tensor::zeros({4, 3})), Error);
}

TEST(TokenPositions, CountWithinEachSequence) {
  const Spans spans = Spans::of_lengths(lengths);
  EXPECT_EQ(ops::token_positions(spans), (std::vector<Index>{0, 1, 2, 0, 0, 1, 2, 3}));
  EXPECT_EQ(ops::token_positions(spans, std::vector<Index>{5, 7, 1}),
            (std::vector<Index>{5, 6, 7, 7, 1, 2, 3, 4}));
}

// ---- Rotary

TEST(Rotary, AQuarterTurnByHand) {
  const ops::RotaryTable table{Tensor::from({0}, {1, 1}), Tensor::from({1}, {1, 1})};
  const Tensor y = ops::rotary(Tensor::from({3, 5}, {1, 2}), table, std::vector<Index>{0}, {});
  EXPECT_EQ(values_of(y), (std::vector<float>{-5, 3}));
}

TEST(Rotary, TheTableHoldsTheAnglesOfEachPosition) {
  const ops::RotaryTable table = ops::rotary_table(30, 6, 100);
  EXPECT_EQ(table.cos.shape(), (Shape{30, 3}));
  for (Index i = 0; i < 3; ++i) {
    const double angle = 29 * std::pow(100.0, -2 * static_cast<double>(i) / 6);
    EXPECT_NEAR(table.cos.values()[29 * 3 + i], std::cos(angle), 1e-5);
    EXPECT_NEAR(table.sin.values()[29 * 3 + i], std::sin(angle), 1e-5);
  }
}

// The angle of each pair at position 1, and the length of its (cos, sin).
void expect_angles(const ops::RotaryFrequencies& frequencies, const std::vector<double>& expected,
                   double length = 1) {
  const ops::RotaryTable table = ops::rotary_table(2, frequencies);
  ASSERT_EQ(table.cos.shape(), (Shape{2, std::ssize(expected)}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float cos = table.cos.values()[expected.size() + i];
    const float sin = table.sin.values()[expected.size() + i];
    EXPECT_NEAR(std::atan2(sin, cos), expected[i], 1e-6) << "pair " << i;
    EXPECT_NEAR(std::hypot(sin, cos), length, 1e-6);
  }
}

TEST(Rotary, LinearScalingAndLongropeDivideFrequencies) {
  const std::vector<double> plain{1, 0.1, 0.01};  // 1000^(-2i / 6)
  expect_angles({.dim = 6, .base = 1000}, plain);
  expect_angles({.dim = 6, .base = 1000, .scaling = ops::RotaryScaling::linear, .factor = 4},
                {0.25, 0.025, 0.0025});
  expect_angles({.dim = 6,
                 .base = 1000,
                 .scaling = ops::RotaryScaling::longrope,
                 .divisors = {1, 2, 5},
                 .attention_factor = 1.5},
                {1, 0.05, 0.002}, 1.5);
}

// Of Llama 3.1: keeps short waves, divides long ones, and blends between.
TEST(Rotary, Llama3ScalesByWavelength) {
  constexpr Index dim = 16;
  constexpr double original = 64, low = 1, high = 4, factor = 8, pi = std::numbers::pi;
  std::vector<double> expected;
  for (Index i = 0; i < dim / 2; ++i) {
    const double inverse = std::pow(10000.0, -2 * static_cast<double>(i) / dim);
    const double wavelength = 2 * pi / inverse;
    const double smooth = (original / wavelength - low) / (high - low);
    const double blended = (1 - smooth) * inverse / factor + smooth * inverse;
    const bool is_long = wavelength > original / low, is_short = wavelength < original / high;
    expected.push_back(is_long ? inverse / factor : is_short ? inverse : blended);
  }
  expect_angles({.dim = dim,
                 .scaling = ops::RotaryScaling::llama3,
                 .factor = factor,
                 .original_positions = 64,
                 .low_frequency_factor = low,
                 .high_frequency_factor = high},
                expected);
}

TEST(Rotary, YarnScalesByDimensionAndLengthens) {
  constexpr Index dim = 32;
  constexpr double factor = 4, base = 10000, pi = std::numbers::pi;
  const auto dim_of = [&](double turns) {
    return dim * std::log(512 / (turns * 2 * pi)) / (2 * std::log(base));
  };
  for (const bool has_whole_ramp : {true, false}) {
    double first = dim_of(32), last = dim_of(1);
    if (has_whole_ramp) first = std::floor(first), last = std::ceil(last);
    std::vector<double> expected;
    for (Index i = 0; i < dim / 2; ++i) {
      const double inverse = std::pow(base, -2 * static_cast<double>(i) / dim);
      const double at = static_cast<double>(i);
      const double ramp = std::clamp((at - first) / (last - first), 0.0, 1.0);
      expected.push_back(inverse / factor * ramp + inverse * (1 - ramp));
    }
    expect_angles({.dim = dim,
                   .base = base,
                   .scaling = ops::RotaryScaling::yarn,
                   .factor = factor,
                   .original_positions = 512,
                   .has_whole_ramp = has_whole_ramp},
                  expected, 0.1 * std::log(factor) + 1);
  }
}

TEST(Rotary, RefusesFrequenciesThatDoNotFit) {
  EXPECT_THROW(ops::rotary_table(4, {.dim = 5}), Error);
  EXPECT_THROW(ops::rotary_table(4, {.dim = 4, .scaling = ops::RotaryScaling::longrope}), Error);
  EXPECT_THROW(ops::rotary_table(4, {.dim = 4, .scaling = ops::RotaryScaling::llama3}), Error);
}

TEST(Rotary, ValuesAndGradientsMatchTheReference) {
  struct Case {
    Index heads, width, rotary_dim;
  };
  const std::vector<Index> positions = {4, 0, 11, 4, 2};
  for (const auto [heads, width, rotary_dim] :
       {Case{1, 2, 0}, Case{1, 7, 6}, Case{3, 10, 0}, Case{2, 33, 18}, Case{4, 64, 0}}) {
    const ops::RotaryTable table = ops::rotary_table(12, rotary_dim == 0 ? width : rotary_dim);
    for (const auto pairs : {ops::RotaryPairs::halves, ops::RotaryPairs::interleaved}) {
      SCOPED_TRACE(testing::Message() << heads << " heads of " << width);
      const ops::RotaryOptions options{
          .num_heads = heads, .rotary_dim = rotary_dim, .pairs = pairs};
      expect_matches_reference(
          [&](const Inputs& in) { return ops::rotary(in[0], table, positions, options); },
          [&](const auto& in) {
            return reference::rotary(in[0], matrix_of(table.cos), matrix_of(table.sin), positions,
                                     options);
          },
          {sample({5, heads * width})});
    }
  }
}

TEST(Rotary, ADotProductDependsOnTheDistanceOnly) {
  const ops::RotaryTable table = ops::rotary_table(100, 8);
  const Tensor q = sample({1, 8}), k = sample({1, 8}, 2);
  const auto dot = [&](Index q_position, Index k_position) {
    const Tensor a = ops::rotary(q, table, std::vector<Index>{q_position}, {});
    const Tensor b = ops::rotary(k, table, std::vector<Index>{k_position}, {});
    return ops::matmul(a, b, {.transpose_b = true}).item();
  };
  EXPECT_NEAR(dot(7, 3), dot(90, 86), 1e-4);
  EXPECT_GT(std::abs(dot(7, 3) - dot(7, 4)), 1e-3);
}

TEST(Rotary, RefusesPositionsAndWidthsThatDoNotFit) {
  const ops::RotaryTable table = ops::rotary_table(4, 6);
  const std::vector<Index> two = {0, 1};
  EXPECT_THROW(ops::rotary(Tensor::zeros({2, 6}), table, std::vector<Index>{0, 4}, {}), Error);
  EXPECT_THROW(ops::rotary(Tensor::zeros({3, 6}), table, two, {}), Error);
  EXPECT_THROW(ops::rotary(Tensor::zeros({2, 8}), table, two, {}), Error);
  EXPECT_THROW(ops::rotary(Tensor::zeros({2, 6}), table, two, {.num_heads = 4}), Error);
}

TEST(RelativeBuckets, AreThoseOfT5) {
  const std::vector<Index> both = ops::buckets_by_distance({});
  ASSERT_EQ(both.size(), 257u);
  const std::vector<Index> distances{0, 1, 7, 8, 11, 12, 15, 16, 31, 32, 64, 90, 91, 127, 128};
  const std::vector<Index> expected{0, 1, 7, 8, 8, 9, 9, 10, 11, 12, 14, 14, 15, 15, 15};
  for (std::size_t i = 0; i < distances.size(); ++i) {
    SCOPED_TRACE(distances[i]);
    EXPECT_EQ(both[128 - distances[i]], expected[i]);
    EXPECT_EQ(both[128 + distances[i]], distances[i] == 0 ? 0 : 16 + expected[i]);
  }
  const std::vector<Index> before = ops::buckets_by_distance({.is_bidirectional = false});
  EXPECT_EQ(before[128 + 5], 0);
  EXPECT_EQ(before[128 - 15], 15);
  EXPECT_EQ(before[128 - 32], 21);  // 16 + 16 log(2) / log(8)
  EXPECT_EQ(before[0], 31);
}

TEST(RelativeBuckets, RefuseTooFew) {
  EXPECT_THROW(ops::buckets_by_distance({.num_buckets = 3}), Error);
  EXPECT_THROW(ops::buckets_by_distance({.num_buckets = 32, .max_distance = 8}), Error);
}

TEST(Positions, TheReferencesHaveTheRightGradients) {
  const Spans spans = Spans::of_lengths(lengths);
  expect_gradient_is_right(
      [&](const auto& in) { return reference::add_positions(in[0], in[1], spans); },
      {sample({8, 3}), sample({4, 3}, 2)});
  const ops::RotaryTable table = ops::rotary_table(8, 4);
  expect_gradient_is_right(
      [&](const auto& in) {
        return reference::rotary(in[0], matrix_of(table.cos), matrix_of(table.sin),
                                 std::vector<Index>{7, 0}, {.num_heads = 2, .rotary_dim = 4});
      },
      {sample({2, 10})});
}

TEST(AlibiSlopes, AreAGeometricSequence) {
  EXPECT_EQ(ops::alibi_slopes(8), (std::vector<float>{0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f,
                                                      0.015625f, 0.0078125f, 0.00390625f}));
  EXPECT_FLOAT_EQ(ops::alibi_slopes(4)[0], 0.25f);
  const std::vector<float> odd = ops::alibi_slopes(6);
  ASSERT_EQ(odd.size(), 6u);
  for (const float slope : odd) {
    EXPECT_GT(slope, 0);
    EXPECT_LT(slope, 1);
  }
}

}  // namespace
}  // namespace heed
