#include "heed/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

const std::vector<Shape> odd_shapes = {{1}, {4, 1}, {2, 3, 5}, {3, 17}, {7, 33}};

TEST(Elementwise, SmallValuesByHand) {
  const Tensor a = Tensor::from({1, -2, 3}, {3}), b = Tensor::from({10, 20, 30}, {3});
  EXPECT_EQ(values_of(ops::add(a, b)), (std::vector<float>{11, 18, 33}));
  EXPECT_EQ(values_of(ops::multiply(a, b)), (std::vector<float>{10, -40, 90}));
  EXPECT_EQ(values_of(ops::scale(a, -2)), (std::vector<float>{-2, 4, -6}));
  EXPECT_EQ(values_of(ops::relu(a)), (std::vector<float>{1, 0, 3}));
  EXPECT_EQ(ops::sum(a).item(), 2);
  EXPECT_EQ(ops::sum(a).rank(), 0);
}

TEST(Elementwise, ReluKeepsNaNAndGivesNoNegativeZero) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (Index count = 1; count <= 70; ++count) {  // every place in a vector, and the rest
    for (Index place = 0; place < count; ++place) {
      Tensor x = Tensor::full({count}, -0.0f);
      x.values()[place] = nan;
      const Tensor y = ops::relu(x);
      for (Index i = 0; i < count; ++i) {
        EXPECT_EQ(std::isnan(y.values()[i]), i == place);
        EXPECT_EQ(std::signbit(y.values()[i]), i == place && std::signbit(nan));
      }
    }
  }
  EXPECT_EQ(values_of(ops::relu(Tensor::from({infinity, -infinity, 1e-45f, -1e-45f}, {4}))),
            (std::vector<float>{infinity, 0, 1e-45f, 0}));
}

TEST(Elementwise, ActivationsByHand) {
  const Tensor x = Tensor::from({0, 1, -1}, {3});
  const Tensor exact = ops::gelu(x), approximate = ops::gelu(x, ops::GeluForm::tanh);
  EXPECT_EQ(exact.values()[0], 0);
  EXPECT_NEAR(exact.values()[1], 0.841345, 1e-6);  // 1 * Phi(1)
  EXPECT_NEAR(exact.values()[2], -0.158655, 1e-6);
  EXPECT_NEAR(approximate.values()[1], 0.841192, 1e-6);
  const Tensor quick = ops::quick_gelu(x);
  EXPECT_NEAR(quick.values()[1], 0.845796, 1e-6);  // 1 / (1 + e^-1.702)
  const Tensor silu = ops::silu(x);
  EXPECT_NEAR(silu.values()[1], 0.731059, 1e-6);  // 1 / (1 + 1/e)
  EXPECT_NEAR(silu.values()[2], -0.268941, 1e-6);
  const Tensor gated = ops::swiglu(x, Tensor::full({3}, 2));
  EXPECT_NEAR(gated.values()[1], 2 * 0.731059, 1e-6);
}

TEST(Elementwise, GeluKeepsItsDigitsInBothTails) {
  std::vector<float> points;
  for (float x = -13; x < 13; x += 0.0037f) points.push_back(x);
  const Shape shape{static_cast<Index>(points.size())};
  Tensor x = Tensor::from(points, shape);
  x.require_gradient();
  const Tensor y = ops::gelu(x);
  backward(y, Tensor::full(shape, 1));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double at = points[i];
    const double below = 0.5 * std::erfc(-at * std::numbers::sqrt2 / 2);
    const double density = std::exp(-at * at / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    EXPECT_NEAR(y.values()[i], at * below, 5e-7 * std::abs(at * below) + 1e-37) << at;
    // The two terms of the slope have opposite signs on the left.
    const double terms = below + std::abs(at) * density;
    EXPECT_NEAR(x.gradient().values()[i], below + at * density, 5e-7 * terms + 1e-37) << at;
  }
}

TEST(Elementwise, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape : odd_shapes) {
    SCOPED_TRACE(shape);
    const Inputs one = {sample(shape)}, two = {sample(shape), sample(shape, 2)};
    expect_matches_reference([](const Inputs& in) { return ops::add(in[0], in[1]); },
                             [](const auto& in) { return reference::add(in[0], in[1]); }, two);
    expect_matches_reference([](const Inputs& in) { return ops::multiply(in[0], in[1]); },
                             [](const auto& in) { return reference::multiply(in[0], in[1]); }, two);
    expect_matches_reference([](const Inputs& in) { return ops::scale(in[0], 2.5f); },
                             [](const auto& in) { return reference::scale(in[0], 2.5); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::sum(in[0]); },
                             [](const auto& in) { return reference::sum(in[0]); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::relu(in[0]); },
                             [](const auto& in) { return reference::relu(in[0]); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::quick_gelu(in[0]); },
                             [](const auto& in) { return reference::quick_gelu(in[0]); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::silu(in[0]); },
                             [](const auto& in) { return reference::silu(in[0]); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::softcap(in[0], 0.75f); },
                             [](const auto& in) { return reference::softcap(in[0], 0.75); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::tanh(in[0]); },
                             [](const auto& in) { return reference::softcap(in[0], 1); }, one);
    expect_matches_reference([](const Inputs& in) { return ops::swiglu(in[0], in[1]); },
                             [](const auto& in) { return reference::swiglu(in[0], in[1]); }, two);
    for (const auto form : {ops::GeluForm::exact, ops::GeluForm::tanh}) {
      expect_matches_reference([&](const Inputs& in) { return ops::gelu(in[0], form); },
                               [&](const auto& in) { return reference::gelu(in[0], form); }, one);
    }
  }
}

TEST(Elementwise, LargeTensorsMatchTheReference) {
  const Inputs one = {sample({301, 419})};  // more than one piece of work
  expect_matches_reference([](const Inputs& in) { return ops::sum(in[0]); },
                           [](const auto& in) { return reference::sum(in[0]); }, one);
  expect_matches_reference([](const Inputs& in) { return ops::quick_gelu(in[0]); },
                           [](const auto& in) { return reference::quick_gelu(in[0]); }, one);
  expect_matches_reference([](const Inputs& in) { return ops::silu(in[0]); },
                           [](const auto& in) { return reference::silu(in[0]); }, one);
}

TEST(Elementwise, TheReferencesHaveTheRightGradients) {
  const Inputs one = {sample({3, 4})}, two = {sample({3, 4}), sample({3, 4}, 2)};
  expect_gradient_is_right([](const auto& in) { return reference::add(in[0], in[1]); }, two);
  expect_gradient_is_right([](const auto& in) { return reference::multiply(in[0], in[1]); }, two);
  expect_gradient_is_right([](const auto& in) { return reference::scale(in[0], 2.5); }, one);
  expect_gradient_is_right([](const auto& in) { return reference::sum(in[0]); }, one);
  expect_gradient_is_right([](const auto& in) { return reference::relu(in[0]); }, one);
  expect_gradient_is_right([](const auto& in) { return reference::quick_gelu(in[0]); }, one);
  expect_gradient_is_right([](const auto& in) { return reference::silu(in[0]); }, one);
  expect_gradient_is_right([](const auto& in) { return reference::swiglu(in[0], in[1]); }, two);
  for (const auto form : {ops::GeluForm::exact, ops::GeluForm::tanh}) {
    expect_gradient_is_right([&](const auto& in) { return reference::gelu(in[0], form); }, one);
  }
}

TEST(Elementwise, ActivationsStayFiniteFarFromZero) {
  for (const float size : {20.0f, 100.0f, 1e4f, 1e18f}) {
    Tensor x = Tensor::from({size, -size}, {2});
    x.require_gradient();
    for (const Tensor& y : {ops::silu(x), ops::gelu(x), ops::gelu(x, ops::GeluForm::tanh)}) {
      EXPECT_FLOAT_EQ(y.values()[0], size);
      EXPECT_NEAR(y.values()[1], 0, 1e-6);
      x.clear_gradient();
      backward(ops::sum(y));
      EXPECT_FLOAT_EQ(x.gradient().values()[0], 1);
      EXPECT_NEAR(x.gradient().values()[1], 0, 1e-6);
    }
  }
}

TEST(Elementwise, RefusesShapesThatDiffer) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({3, 2});
  EXPECT_THROW(ops::add(a, b), Error);
  EXPECT_THROW(ops::multiply(a, b), Error);
  EXPECT_THROW(ops::swiglu(a, b), Error);
  EXPECT_THROW(ops::add_dropout(a, b, {}), Error);
}

TEST(Elementwise, EmptyTensorsStayEmpty) {
  const Tensor nothing = Tensor::zeros({0, 3});
  EXPECT_EQ(ops::add(nothing, nothing).size(), 0);
  EXPECT_EQ(ops::gelu(nothing).size(), 0);
  EXPECT_EQ(ops::sum(nothing).item(), 0);
}

TEST(Reshape, KeepsTheValuesAndCarriesTheGradientBack) {
  expect_matches_reference(
      [](const Inputs& in) {
        return ops::reshape(in[0], {5, 6});
      },
      [](const auto& in) { return in[0]; }, {sample({2, 3, 5})});
  EXPECT_EQ(ops::reshape(sample({2, 3, 5}), {5, 6}).shape(), (Shape{5, 6}));
  EXPECT_THROW(ops::reshape(Tensor::zeros({2, 3}), {7}), Error);
}

// ---- Dropout. The factors that it applies are read from the op itself: dropout of ones.

Tensor factors(const Shape& shape, const ops::Dropout& options) {
  return ops::dropout(Tensor::full(shape, 1), options);
}

TEST(Dropout, KeepsTheElementsThatTheirSixteenBitsSay) {
  const ops::Dropout options{.probability = 0.3f, .key = 11};
  const auto threshold = static_cast<std::uint64_t>(std::lround(0.3f * 65536));
  const Tensor found = factors({3, 67}, options);  // not whole vectors
  for (Index i = 0; i < found.size(); ++i) {
    const std::uint64_t bits = random_bits(options.key, static_cast<std::uint64_t>(i / 4));
    const bool stays = ((bits >> (16 * (i % 4))) & 0xffff) >= threshold;
    EXPECT_EQ(found.values()[i] != 0, stays) << i;
  }
}

TEST(Dropout, ValuesAndGradientsMatchTheReference) {
  const ops::Dropout options{.probability = 0.3f, .key = 11};
  for (const Shape& shape : odd_shapes) {
    SCOPED_TRACE(shape);
    const auto kept = [&]<typename T>(const reference::Matrix<T>& x) {
      reference::Matrix<T> y = x;
      const Tensor factor = factors(shape, options);
      for (Index i = 0; i < factor.size(); ++i) y.values[i] = x.values[i] * T(factor.values()[i]);
      return y;
    };
    expect_matches_reference([&](const Inputs& in) { return ops::dropout(in[0], options); },
                             [&](const auto& in) { return kept(in[0]); }, {sample(shape)});
    expect_matches_reference(
        [&](const Inputs& in) { return ops::add_dropout(in[0], in[1], options); },
        [&](const auto& in) { return reference::add(in[0], kept(in[1])); },
        {sample(shape), sample(shape, 2)});
  }
}

TEST(Dropout, TakesTheShareThatWasAskedForAndScalesTheRest) {
  for (const float probability : {0.1f, 0.3f, 0.5f, 0.9f}) {
    const Tensor y = factors({500, 401}, {.probability = probability, .key = 5});
    const float rounded = std::round(probability * 65536) / 65536;
    Index zeros = 0;
    for (const float value : y.values()) {
      if (value == 0) {
        ++zeros;
      } else {
        ASSERT_FLOAT_EQ(value, 1 / (1 - rounded));
      }
    }
    // The deviation of the share is at most 0.5 / sqrt(200,500) = 0.0011.
    EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(y.size()), probability, 0.005);
  }
}

TEST(Dropout, ChoosesNeighboursIndependently) {
  const Tensor y = factors({200, 301}, {.probability = 0.5f, .key = 8});
  for (const Index distance : {1, 2, 4, 8, 16, 301}) {
    Index both = 0, pairs = 0;
    for (Index i = 0; i + distance < y.size(); ++i, ++pairs) {
      both += y.values()[i] != 0 && y.values()[i + distance] != 0;
    }
    EXPECT_NEAR(static_cast<double>(both) / static_cast<double>(pairs), 0.25, 0.01)
        << "distance " << distance;
  }
}

TEST(Dropout, TheKeyDecidesWhatIsTaken) {
  const Shape shape{40, 50};
  EXPECT_TRUE(same_bits(factors(shape, {0.5f, 1}), factors(shape, {0.5f, 1})));
  EXPECT_FALSE(same_bits(factors(shape, {0.5f, 1}), factors(shape, {0.5f, 2})));
}

TEST(Dropout, NoneGivesTheInputItself) {
  const Tensor x = sample({3, 5});
  EXPECT_TRUE(same_bits(ops::dropout(x, {}), x));
  EXPECT_TRUE(same_bits(ops::add_dropout(x, x, {}), ops::add(x, x)));
}

TEST(Dropout, RefusesProbabilitiesOutsideItsRange) {
  const Tensor x = sample({3});
  EXPECT_THROW(ops::dropout(x, {.probability = 1.0f, .key = 1}), Error);
  EXPECT_THROW(ops::dropout(x, {.probability = -0.1f, .key = 1}), Error);
}

TEST(Dropout, ATakenElementIsZeroEvenIfItIsNotFinite) {
  const ops::Dropout options{.probability = 0.5f, .key = 3};
  const Tensor factor = factors({64}, options);
  const Tensor y =
      ops::dropout(Tensor::full({64}, std::numeric_limits<float>::infinity()), options);
  for (Index i = 0; i < 64; ++i) {
    EXPECT_EQ(y.values()[i] == 0, factor.values()[i] == 0);
  }
}

TEST(Softcap, KeepsNumbersBelowItsCap) {
  const Tensor y = ops::softcap(Tensor::from({-1e30f, -40, 0, 1e-3f, 40, 1e30f}, {6}), 30);
  EXPECT_EQ(values_of(ops::tanh(Tensor::from({-100, 100}, {2}))), (std::vector<float>{-1, 1}));
  EXPECT_EQ(y.values()[0], -30);
  EXPECT_NEAR(y.values()[1], -30 * std::tanh(4.0 / 3), 1e-5);
  EXPECT_EQ(y.values()[2], 0);
  EXPECT_NEAR(y.values()[3], 1e-3, 4e-6);
  EXPECT_EQ(y.values()[5], 30);
  EXPECT_THROW(ops::softcap(y, 0), Error);
}

}  // namespace
}  // namespace heed
