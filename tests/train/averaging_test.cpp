#include "heed/train/averaging.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

Weights weights(float first, float second) {
  return {{"a", Tensor::from({first, second}, {2})}, {"b", Tensor::full({3, 3}, first)}};
}

TEST(MovingAverage, ForgetsFasterAtFirst) {
  MovingAverage average(weights(0, 0), 0.9);
  average.update(weights(11, 22), 1);  // keeps 2/11
  EXPECT_NEAR(average.weights()[0].value.values()[0], 9.0, 1e-5);
  EXPECT_NEAR(average.weights()[0].value.values()[1], 18.0, 1e-5);
  average.update(weights(19, 28), 1000);  // keeps 0.9
  EXPECT_NEAR(average.weights()[0].value.values()[0], 10.0, 1e-5);
  EXPECT_NEAR(average.weights()[1].value.values()[8], 10.0, 1e-5);
}

TEST(MovingAverage, HasItsOwnValues) {
  Weights model = weights(1, 2);
  MovingAverage average(model, 0.9);
  average.update(weights(5, 5), 1);
  EXPECT_EQ(model[0].value.values()[0], 1);
}

TEST(BorrowedWeights, ComeAndGo) {
  Weights model = weights(1, 2);
  {
    BorrowedWeights borrowed(model, weights(7, 8));
    EXPECT_EQ(model[0].value.values()[1], 8);
    borrowed.swap();
    EXPECT_EQ(model[0].value.values()[1], 2);
    borrowed.swap();
    EXPECT_EQ(model[0].value.values()[1], 8);
  }
  EXPECT_EQ(model[0].value.values()[1], 2);
}

}  // namespace
}  // namespace heed::train
