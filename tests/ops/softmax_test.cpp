#include "heed/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Softmax, SmallValuesByHand) {
  // exp of 0, log 2, log 5: 1, 2 and 5 of 8.
  const Tensor x = Tensor::from({0, std::log(2.0f), std::log(5.0f)}, {1, 3});
  const Tensor y = ops::softmax(x), z = ops::log_softmax(x);
  EXPECT_FLOAT_EQ(y.values()[0], 0.125f);
  EXPECT_FLOAT_EQ(y.values()[1], 0.25f);
  EXPECT_FLOAT_EQ(y.values()[2], 0.625f);
  EXPECT_FLOAT_EQ(z.values()[1], std::log(0.25f));
}

TEST(Softmax, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape : {Shape{1}, Shape{4, 1}, Shape{2, 3, 5}, Shape{3, 17}, Shape{5, 300}}) {
    SCOPED_TRACE(shape);
    expect_matches_reference([](const Inputs& in) { return ops::softmax(in[0]); },
                             [](const auto& in) { return reference::softmax(in[0]); },
                             {sample(shape)});
    expect_matches_reference([](const Inputs& in) { return ops::log_softmax(in[0]); },
                             [](const auto& in) { return reference::log_softmax(in[0]); },
                             {sample(shape)});
  }
}

TEST(Softmax, TheReferencesHaveTheRightGradients) {
  const Inputs inputs = {sample({3, 5})};
  expect_gradient_is_right([](const auto& in) { return reference::softmax(in[0]); }, inputs);
  expect_gradient_is_right([](const auto& in) { return reference::log_softmax(in[0]); }, inputs);
}

TEST(Softmax, HugeValuesDoNotOverflow) {
  const Tensor x = Tensor::from({3e38f, 3e38f, -3e38f, 1e4f, 1e4f, 1e4f - 100}, {2, 3});
  EXPECT_EQ(values_of(ops::softmax(x)), (std::vector<float>{0.5f, 0.5f, 0, 0.5f, 0.5f, 0}));
  const Tensor y = ops::log_softmax(x);
  EXPECT_FLOAT_EQ(y.values()[3], -std::log(2.0f));
  EXPECT_FLOAT_EQ(y.values()[5], -100 - std::log(2.0f));
}

TEST(Softmax, MinusInfinityIsAMaskedCell) {
  Tensor x = Tensor::from({-infinity, 1, 1, -infinity}, {1, 4});
  x.require_gradient();
  const Tensor y = ops::softmax(x);
  EXPECT_EQ(values_of(y), (std::vector<float>{0, 0.5f, 0.5f, 0}));
  backward(y, Tensor::from({100, 1, 0, 100}, {1, 4}));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{0, 0.25f, -0.25f, 0}));
}

TEST(Softmax, ARowWhereEverythingIsMaskedGivesZeros) {
  Tensor x = Tensor::full({2, 19}, -infinity);
  x.data()[19] = 0;  // the second row has one cell left
  x.require_gradient();
  const Tensor y = ops::softmax(x);
  for (Index i = 0; i < y.size(); ++i) EXPECT_EQ(y.values()[i], i == 19 ? 1 : 0);
  backward(y, sample(y.shape()));
  for (const float slope : x.gradient().values()) EXPECT_EQ(slope, 0);
}

TEST(Softmax, RowsDoNotDependOnEachOther) {
  const Tensor x = sample({40, 33});
  const Tensor y = ops::softmax(x);
  for (const Index row : {0, 7, 39}) {
    EXPECT_TRUE(same_bits(ops::softmax(rows_of(x, row, 1)), rows_of(y, row, 1)));
  }
}

TEST(Softmax, RefusesAnEmptyRow) {
  EXPECT_THROW(ops::softmax(Tensor::zeros({3, 0})), Error);
  EXPECT_THROW(ops::log_softmax(Tensor::zeros({3, 0})), Error);
}

}  // namespace
}  // namespace heed
