#include "heed/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

TEST(LayerNorm, SmallValuesByHand) {
  // Mean 3, variance 4: -1 and 1, then gain and bias.
  const Tensor y = ops::layer_norm(Tensor::from({1, 5}, {1, 2}), Tensor::from({2, 3}, {2}),
                                   Tensor::from({10, 20}, {2}), 0);
  EXPECT_EQ(values_of(y), (std::vector<float>{8, 23}));
}

TEST(LayerNorm, BeforeGainAndBiasTheMeanIsZeroAndTheVarianceOne) {
  const Tensor y = ops::layer_norm(sample({4, 100}), Tensor::full({100}, 1), Tensor(), 0);
  for (Index row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    for (const float value : values_of(rows_of(y, row, 1))) {
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 100, 0, 1e-6);
    EXPECT_NEAR(squares / 100, 1, 1e-6);
  }
}

TEST(LayerNorm, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape :
       {Shape{1, 3}, Shape{4, 5}, Shape{3, 17}, Shape{70, 33}, Shape{9, 128}}) {
    SCOPED_TRACE(shape);
    const Index dim = shape[1];
    expect_matches_reference(
        [](const Inputs& in) { return ops::layer_norm(in[0], in[1], in[2], 1e-5f); },
        [](const auto& in) { return reference::layer_norm(in[0], in[1], in[2], 1e-5f); },
        {sample(shape), sample({dim}, 2), sample({dim}, 3)});
    expect_matches_reference(
        [](const Inputs& in) { return ops::layer_norm(in[0], in[1], Tensor(), 0.1f); },
        []<typename T>(const reference::Matrices<T>& in) {
          return reference::layer_norm(in[0], in[1], reference::Matrix<T>(), 0.1f);
        },
        {sample(shape), sample({dim}, 2)});
  }
}

TEST(LayerNorm, OneColumnGivesTheBiasAndNoGradient) {
  Tensor x = sample({3, 1});
  x.require_gradient();
  const Tensor y = ops::layer_norm(x, Tensor::full({1}, 5), Tensor::full({1}, 7));
  EXPECT_EQ(values_of(y), (std::vector<float>{7, 7, 7}));
  backward(y, sample({3, 1}, 2));
  for (const float slope : x.gradient().values()) EXPECT_EQ(slope, 0);
}

TEST(LayerNorm, ALargeMeanDoesNotDrownTheVariance) {
  Tensor x = Tensor::full({1, 64}, 10000);
  for (Index i = 0; i < 64; ++i) x.data()[i] += static_cast<float>(i % 2);
  const Tensor y = ops::layer_norm(x, Tensor::full({64}, 1), Tensor());
  for (Index i = 0; i < 64; ++i) EXPECT_NEAR(y.values()[i], i % 2 == 0 ? -1 : 1, 1e-3);
}

TEST(RmsNorm, SmallValuesByHand) {
  // The mean square of 1 and 7 is 25.
  const Tensor y = ops::rms_norm(Tensor::from({1, 7}, {1, 2}), Tensor::from({5, 10}, {2}), 0);
  EXPECT_FLOAT_EQ(y.values()[0], 1);
  EXPECT_FLOAT_EQ(y.values()[1], 14);
}

TEST(RmsNorm, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape :
       {Shape{1, 2}, Shape{4, 5}, Shape{3, 17}, Shape{70, 33}, Shape{9, 128}}) {
    SCOPED_TRACE(shape);
    expect_matches_reference(
        [](const Inputs& in) { return ops::rms_norm(in[0], in[1], 1e-5f); },
        [](const auto& in) { return reference::rms_norm(in[0], in[1], 1e-5f); },
        {sample(shape), sample({shape[1]}, 2)});
  }
}

TEST(UnitVectors, HaveLengthOneAndZeroStaysZero) {
  Tensor x = Tensor::from({3, 4, 0, 0, 0, -2}, {1, 6});
  x.require_gradient();
  const Tensor y = ops::unit_vectors(x, 2);
  const std::vector<float> expected = {0.6f, 0.8f, 0, 0, 0, -1};
  for (Index i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(y.values()[i], expected[i]);
  backward(y, Tensor::full({1, 6}, 1));
  EXPECT_EQ(x.gradient().values()[2], 0);
  EXPECT_EQ(x.gradient().values()[3], 0);
}

// The squares of these are no floats.
TEST(UnitVectors, OfHugeAndOfTinyVectorsHaveLengthOneToo) {
  for (const float size : {1e20f, 8.5e37f, 1e-22f, 1e-30f, 1e-40f}) {
    SCOPED_TRACE(size);
    const Tensor y = ops::unit_vectors(Tensor::from({3 * size, -4 * size, 0}, {1, 3}), 3);
    EXPECT_NEAR(y.values()[0], 0.6f, 1e-5);
    EXPECT_NEAR(y.values()[1], -0.8f, 1e-5);
    EXPECT_EQ(y.values()[2], 0);
  }
}

TEST(UnitVectors, ValuesAndGradientsMatchTheReference) {
  for (const Index width : {2, 3, 8, 17, 33}) {
    SCOPED_TRACE(width);
    expect_matches_reference([&](const Inputs& in) { return ops::unit_vectors(in[0], width); },
                             [&](const auto& in) { return reference::unit_vectors(in[0], width); },
                             {sample({5, 3 * width})});
  }
}

TEST(Norms, TheReferencesHaveTheRightGradients) {
  const Tensor x = sample({3, 6}), gain = sample({6}, 2), bias = sample({6}, 3);
  expect_gradient_is_right(
      [](const auto& in) { return reference::layer_norm(in[0], in[1], in[2], 1e-5); },
      {x, gain, bias});
  expect_gradient_is_right([](const auto& in) { return reference::rms_norm(in[0], in[1], 1e-5); },
                           {x, gain});
  expect_gradient_is_right([](const auto& in) { return reference::unit_vectors(in[0], 3); }, {x});
}

TEST(Norms, RowsOfZerosAndHugeRowsStayFinite) {
  const Tensor gain = Tensor::full({8}, 1);
  for (const float size : {0.0f, 1e-30f, 1e15f}) {
    Tensor x = ops::layer_norm(sample({1, 8}), gain, Tensor());
    for (float& value : x.values()) value *= size;
    for (const Tensor& y :
         {ops::layer_norm(x, gain, Tensor()), ops::rms_norm(x, gain), ops::unit_vectors(x, 8)}) {
      for (const float value : y.values()) EXPECT_TRUE(std::isfinite(value)) << size;
    }
  }
}

TEST(Norms, RefuseWidthsThatDiffer) {
  const Tensor x = Tensor::zeros({2, 4});
  EXPECT_THROW(ops::layer_norm(x, Tensor::zeros({3}), Tensor()), Error);
  EXPECT_THROW(ops::layer_norm(x, Tensor::zeros({4}), Tensor::zeros({3})), Error);
  EXPECT_THROW(ops::rms_norm(x, Tensor::zeros({5})), Error);
  EXPECT_THROW(ops::unit_vectors(x, 3), Error);
}

}  // namespace
}  // namespace heed
