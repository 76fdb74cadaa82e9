#include "heed/core/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "support/same_bits.h"

namespace heed {
namespace {

Tensor leaf(std::initializer_list<float> values, const Shape& shape) {
  Tensor tensor = Tensor::from(values, shape);
  tensor.require_gradient();
  return tensor;
}

TEST(Shape, ReadsAndPrintsItsSizes) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.size(), 30);
  EXPECT_EQ(shape.dim(-1), 5);
  EXPECT_EQ(shape.dim(0), 2);
  EXPECT_EQ(Shape{}.size(), 1);
  std::ostringstream text;
  text << shape << Shape{};
  EXPECT_EQ(text.str(), "[2, 3, 5][]");
  EXPECT_NE(shape, (Shape{2, 3}));
}

TEST(Shape, RefusesNegativeSizesAndMissingAxes) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{2, 3}.dim(2)), Error);
  EXPECT_THROW((Shape{2, 3}.dim(-3)), Error);
}

std::string printed(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor;
  return text.str();
}

TEST(Tensor, PrintsItsShapeAndValuesInColumns) {
  EXPECT_EQ(printed(Tensor::from({1, 2, 3, -4.5f}, {2, 2})),
            "Tensor [2, 2]\n[[   1,    2],\n [   3, -4.5]]");
  EXPECT_EQ(printed(Tensor::full({}, 7)), "Tensor []\n7");
  EXPECT_EQ(printed(Tensor::zeros({0})), "Tensor [0]\n[]");
  EXPECT_EQ(printed(Tensor()), "Tensor (undefined)");
  EXPECT_EQ(printed(Tensor::zeros({2, 1, 2})), "Tensor [2, 1, 2]\n[[[0, 0]],\n [[0, 0]]]");
}

TEST(Tensor, PrintsOnlyTheEndsOfLongAxes) {
  EXPECT_EQ(printed(Tensor::full({2000}, 1)), "Tensor [2000]\n[1, 1, 1, ..., 1, 1, 1]");
  const std::string matrix = printed(Tensor::full({400, 4}, 1));
  EXPECT_EQ(std::count(matrix.begin(), matrix.end(), '1'), 6 * 4);
  EXPECT_NE(matrix.find("[1, 1, 1, 1],\n ...,\n [1, 1, 1, 1]"), std::string::npos);
}

TEST(Tensor, HoldsTheValuesItWasMadeFrom) {
  EXPECT_EQ(values_of(Tensor::from({1, 2, 3, 4}, {2, 2})), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values_of(Tensor::zeros({3})), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values_of(Tensor::full({2}, 7)), (std::vector<float>{7, 7}));
  EXPECT_EQ(Tensor::full({}, 7).item(), 7);
  EXPECT_EQ(Tensor::zeros({3, 0}).size(), 0);
  EXPECT_FALSE(Tensor().is_defined());
  EXPECT_THROW(Tensor::from({1, 2, 3}, {2, 2}), Error);
  EXPECT_THROW(Tensor::zeros({2}).item(), Error);
}

TEST(Tensor, RandomValuesDependOnTheKeyOnly) {
  Rng one(1), again(1), other(2);
  const Tensor x = Tensor::randn({50}, one);
  EXPECT_EQ(values_of(x), values_of(Tensor::randn({50}, again)));
  EXPECT_NE(values_of(x), values_of(Tensor::randn({50}, other)));
}

TEST(Tensor, AViewSharesValuesAndACloneDoesNot) {
  Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor view = x.view({3, 2});
  const Tensor copy = x.clone();
  x.data()[0] = 9;
  EXPECT_EQ(view.shape(), (Shape{3, 2}));
  EXPECT_EQ(view.values()[0], 9);
  EXPECT_EQ(copy.values()[0], 1);
  EXPECT_THROW(x.view({4, 2}), Error);
}

TEST(Tensor, DetachAndViewsForgetTheRecord) {
  const Tensor x = leaf({1, 2}, {2});
  EXPECT_TRUE(ops::scale(x, 2).needs_gradient());
  EXPECT_FALSE(ops::scale(x, 2).detach().needs_gradient());
  EXPECT_FALSE(x.view({1, 2}).needs_gradient());
  EXPECT_FALSE(x.clone().needs_gradient());
}

TEST(Backward, GivesTheChainRule) {
  const Tensor x = leaf({1, 2, 3}, {3});
  const Tensor y = ops::sum(ops::scale(ops::multiply(x, x), 0.5f));  // sum of x^2 / 2
  EXPECT_FLOAT_EQ(y.item(), 7);
  backward(y);
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{1, 2, 3}));
}

TEST(Backward, ATensorUsedTwiceGetsBothGradients) {
  const Tensor x = leaf({1, 2}, {2});
  backward(ops::sum(ops::add(x, x)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{2, 2}));
}

TEST(Backward, ADiamondMeetsAgainBeforeItGoesOn) {
  const Tensor x = leaf({3}, {1});
  const Tensor square = ops::multiply(x, x);
  const Tensor left = ops::scale(square, 2), right = ops::multiply(square, square);
  backward(ops::sum(ops::add(left, right)));  // 2 x^2 + x^4
  EXPECT_FLOAT_EQ(x.gradient().item(), 4 * 3 + 4 * 27);
}

TEST(Backward, AddsToTheGradientThatIsThere) {
  const Tensor x = leaf({1, 2}, {2});
  backward(ops::sum(ops::scale(x, 3)));
  backward(ops::sum(ops::multiply(x, x)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{5, 7}));
}

TEST(Backward, AddingDoesNotChangeGradientsThatSomebodyKept) {
  const Tensor x = leaf({1, 2}, {2}), y = leaf({3, 4}, {2});
  backward(ops::sum(ops::add(x, y)));  // both may have been handed the same tensor
  const Tensor kept = x.gradient();
  backward(ops::sum(ops::scale(x, 10)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{11, 11}));
  EXPECT_EQ(values_of(y.gradient()), (std::vector<float>{1, 1}));
  EXPECT_EQ(values_of(kept), (std::vector<float>{1, 1}));
}

// 2 x, by an operation that adds to the gradient that x has so far.
Tensor doubled_in_place(const Tensor& x, bool& has_taken) {
  return record(ops::scale(x.detach(), 2), {x},
                [&has_taken](const Tensor& dy, const TakeGradient& take) -> Gradients {
                  Tensor sum = take(0);
                  has_taken = sum.is_defined();
                  if (!has_taken) sum = Tensor::zeros(dy.shape());
                  for (Index i = 0; i < dy.size(); ++i) sum.data()[i] += 2 * dy.data()[i];
                  return {sum};
                });
}

TEST(Backward, AnOperationMayAddToTheGradientInPlace) {
  const Tensor x = leaf({1, 2}, {2});
  bool has_taken = false;
  const Tensor first = doubled_in_place(x, has_taken);
  backward(ops::sum(ops::add(first, ops::scale(x, 3))));
  EXPECT_TRUE(has_taken);
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{5, 5}));
}

TEST(Backward, AGradientThatSomebodyElseLooksAtIsNotTaken) {
  const Tensor x = leaf({1, 2}, {2}), y = leaf({3, 4}, {2});
  bool has_taken = true;
  const Tensor first = doubled_in_place(x, has_taken);
  backward(ops::sum(ops::add(first, ops::add(x, y))));  // x and y are handed the same tensor
  EXPECT_FALSE(has_taken);
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{3, 3}));
  EXPECT_EQ(values_of(y.gradient()), (std::vector<float>{1, 1}));
}

TEST(Backward, ClearedGradientsBeginAgain) {
  Tensor x = leaf({1, 2}, {2});
  backward(ops::sum(x));
  x.clear_gradient();
  EXPECT_FALSE(x.gradient().is_defined());
  backward(ops::sum(ops::scale(x, 4)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{4, 4}));
}

TEST(Backward, StartsFromAGivenGradient) {
  const Tensor x = leaf({1, 2}, {2});
  backward(ops::multiply(x, x), Tensor::from({10, 100}, {2}));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{20, 400}));
}

TEST(Backward, LeavesOutInputsThatAskedForNothing) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor constant = Tensor::from({5, 6}, {2});
  backward(ops::sum(ops::multiply(x, constant)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{5, 6}));
  EXPECT_FALSE(constant.needs_gradient());
  EXPECT_THROW(constant.gradient(), Error);
}

TEST(Backward, CopiesOfALeafShareItsGradient) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor copy = x;
  backward(ops::sum(ops::scale(copy, 2)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{2, 2}));
}

TEST(Backward, LongChainsDoNotOverflowTheStack) {
  const Tensor x = leaf({1}, {1});
  Tensor y = x;
  for (int i = 0; i < 20000; ++i) y = ops::scale(y, 1);
  backward(ops::sum(y));
  EXPECT_EQ(x.gradient().item(), 1);
}

TEST(Backward, RefusesSeveralValuesWrongShapesAndNoRecord) {
  const Tensor x = leaf({1, 2}, {2});
  EXPECT_THROW(backward(ops::scale(x, 2)), Error);
  EXPECT_THROW(backward(ops::scale(x, 2), Tensor::zeros({3})), Error);
  EXPECT_THROW(backward(Tensor::zeros({1})), Error);
}

TEST(Backward, RefusesAGraphOfWhichAPartIsFreed) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor shared = ops::multiply(x, x);
  const Tensor first = ops::sum(shared), second = ops::sum(ops::scale(shared, 3));
  backward(first);
  EXPECT_THROW(backward(first), Error);
  EXPECT_THROW(backward(second), Error);                           // recorded before
  EXPECT_THROW(backward(ops::sum(shared)), Error);                 // and after
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{2, 4}));  // nothing was added
  backward(ops::sum(ops::multiply(shared.detach(), x)));
  EXPECT_EQ(values_of(x.gradient()), (std::vector<float>{3, 8}));
}

TEST(NoGrad, RecordsNothingWhileItLives) {
  const Tensor x = leaf({1, 2}, {2});
  EXPECT_TRUE(is_grad_enabled());
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      EXPECT_FALSE(is_grad_enabled());
    }
    EXPECT_FALSE(is_grad_enabled());
    EXPECT_FALSE(ops::scale(x, 2).needs_gradient());
  }
  EXPECT_TRUE(is_grad_enabled());
  EXPECT_TRUE(ops::scale(x, 2).needs_gradient());
}

}  // namespace
}  // namespace heed
