#include "heed/ops/argmax_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"

namespace heed {
namespace {

using ops::ArgmaxProjection;

// Every answer must be the largest of ops::linear by more than the margin. Returns how many there
// are.
Index num_right(const std::vector<Index>& found, const Tensor& x, const Tensor& weight,
                double margin) {
  const Tensor products = ops::linear(x, weight, Tensor());
  Index count = 0;
  for (Index i = 0; i < x.dim(0); ++i) {
    if (found[i] == ArgmaxProjection::inconclusive) continue;
    ++count;
    const auto row = products.values().subspan(i * weight.dim(0), weight.dim(0));
    for (Index j = 0; j < weight.dim(0); ++j) {
      if (j == found[i]) continue;
      EXPECT_GT(double{row[found[i]]}, double{row[j]} + margin);
    }
  }
  return count;
}

TEST(ArgmaxProjection, FindsTheLargestProductOrSaysThatItIsUnsure) {
  Rng rng(1);
  for (const Index in_dim : {1, 2, 31, 128, 600}) {
    for (const Index out_dim : {2, 40, 3000}) {
      const Tensor weight = Tensor::randn({out_dim, in_dim}, rng);
      const ArgmaxProjection projection(weight);
      for (const Index rows : {0, 1, 7, 100}) {
        const Tensor x = Tensor::randn({rows, in_dim}, rng);
        const std::vector<Index> found = projection.argmax(x);
        ASSERT_EQ(std::ssize(found), rows);
        const Index right = num_right(found, x, weight, 0);
        if (in_dim < 31) continue;  // many products lie side by side
        EXPECT_GE(right, rows * 8 / 10);
      }
    }
  }
}

// Rows that are closer and closer to the best one: sure at first, never wrong.
TEST(ArgmaxProjection, IsInconclusiveBeforeItIsWrong) {
  Rng rng(2);
  Index right = 0, tries = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Tensor x = Tensor::randn({1, 64}, rng);
    Tensor weight = Tensor::randn({2, 64}, rng);
    const auto nearness = static_cast<float>(std::pow(10.0, -trial % 8));
    for (Index l = 0; l < 64; ++l) {
      weight.data()[64 + l] = weight.data()[l] + nearness * weight.data()[64 + l];
    }
    right += num_right(ArgmaxProjection(weight).argmax(x), x, weight, 0);
    ++tries;
  }
  EXPECT_GT(right, tries / 4);
  EXPECT_LT(right, tries * 3 / 4);
}

TEST(ArgmaxProjection, KeepsTheMargin) {
  const Tensor weight = Tensor::from({1, 0, 0.5, 0.1, -1, 2}, {3, 2});
  const Tensor x = Tensor::from({1, 0}, {1, 2});
  const ArgmaxProjection projection(weight);
  EXPECT_EQ(projection.argmax(x), std::vector<Index>{0});
  EXPECT_EQ(projection.argmax(x, 0.49), std::vector<Index>{0});
  EXPECT_EQ(projection.argmax(x, 0.51), std::vector<Index>{ArgmaxProjection::inconclusive});
}

TEST(ArgmaxProjection, OfOneRowIsSureAndOfNoneNever) {
  const Tensor x = Tensor::from({-1, -2}, {1, 2});
  EXPECT_EQ(ArgmaxProjection(Tensor::from({3, 4}, {1, 2})).argmax(x), std::vector<Index>{0});
  EXPECT_EQ(ArgmaxProjection(Tensor::zeros({0, 2})).argmax(x),
            std::vector<Index>{ArgmaxProjection::inconclusive});
}

TEST(ArgmaxProjection, IsUnsureOfTiesAndOfNumbersThatAreNoneOrOutOfReach) {
  const std::vector<Index> inconclusive{ArgmaxProjection::inconclusive};
  const Tensor x = Tensor::from({1, 2}, {1, 2});
  EXPECT_EQ(ArgmaxProjection(Tensor::from({3, 4, 1, 1, 3, 4}, {3, 2})).argmax(x), inconclusive);
  EXPECT_EQ(ArgmaxProjection(Tensor::zeros({3, 2})).argmax(x), inconclusive);
  const ArgmaxProjection projection(Tensor::from({3, 4, 1, 1}, {2, 2}));
  EXPECT_EQ(projection.argmax(x), std::vector<Index>{0});
  for (const float odd : {0.0f, NAN, INFINITY, -INFINITY, 1e-30f, 1e30f}) {
    SCOPED_TRACE(odd);
    EXPECT_EQ(projection.argmax(Tensor::from({odd, odd}, {1, 2})), inconclusive);
    EXPECT_EQ(ArgmaxProjection(Tensor::from({odd, odd, odd, 0}, {2, 2})).argmax(x), inconclusive);
  }
}

TEST(ArgmaxProjection, FindsTheSameOnAnyNumberOfThreads) {
  Rng rng(3);
  const Tensor weight = Tensor::randn({5000, 20}, rng), x = Tensor::randn({30, 20}, rng);
  const int threads = num_threads();
  const std::vector<Index> expected = ArgmaxProjection(weight).argmax(x);
  for (const int count : {1, 3}) {
    set_num_threads(count);
    EXPECT_EQ(ArgmaxProjection(weight).argmax(x), expected);
  }
  set_num_threads(threads);
}

// The bias decides about most rows, and the scale about how much it does.
TEST(ArgmaxProjection, CountsTheBiasAndTheScaleOfItsInput) {
  Rng rng(4);
  const Tensor weight = Tensor::randn({40, 20}, rng),
               bias = ops::scale(Tensor::randn({40}, rng), 9);
  const Tensor x = Tensor::randn({100, 20}, rng);
  for (const float scale : {1.0f, 0.2f, -3.0f}) {
    const ArgmaxProjection projection(weight, {.bias = bias, .scale = scale});
    const std::vector<Index> found = projection.argmax(x);
    const Tensor logits = ops::linear(ops::scale(x, scale), weight, bias);
    Index sure = 0;
    for (Index i = 0; i < 100; ++i) {
      const auto row = logits.values().subspan(i * 40, 40);
      if (found[i] == ArgmaxProjection::inconclusive) continue;
      ++sure;
      EXPECT_EQ(found[i], std::ranges::max_element(row) - row.begin());
    }
    EXPECT_GT(sure, 90);
  }
  EXPECT_THROW(ArgmaxProjection(weight, {.bias = Tensor::zeros({39})}), Error);
  EXPECT_EQ(ArgmaxProjection::never(20).argmax(x),
            std::vector<Index>(100, ArgmaxProjection::inconclusive));
}

}  // namespace
}  // namespace heed
