#include "heed/ops/binary_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "support/gradient_check.h"
#include "support/reference_losses.h"
#include "support/same_bits.h"

namespace heed {
namespace {

// Certain and uncertain ones.
Tensor sample_targets(const Shape& shape) {
  Tensor targets = Tensor::empty(shape);
  Rng rng(random_key(5, shape[0], shape[1]));
  for (float& y : targets.values()) y = static_cast<float>(rng.below(5)) / 4;
  return targets;
}

TEST(BinaryCrossEntropy, SmallValuesByHand) {
  // p = 3/4: the yes costs -log(3/4), the no -log(1/4).
  const float x = std::log(3.0f);
  const Tensor losses = ops::binary_cross_entropy(Tensor::from({x, x, 0}, {1, 3}),
                                                  Tensor::from({1, 0, 0.5f}, {1, 3}));
  EXPECT_EQ(losses.shape(), (Shape{1, 3}));
  EXPECT_FLOAT_EQ(losses.values()[0], -std::log(0.75f));
  EXPECT_FLOAT_EQ(losses.values()[1], -std::log(0.25f));
  EXPECT_FLOAT_EQ(losses.values()[2], std::log(2.0f));
}

TEST(BinaryCrossEntropy, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 17}, Shape{70, 129}}) {
    SCOPED_TRACE(shape);
    const Tensor targets = sample_targets(shape);
    const auto expected = matrix_of(targets);
    expect_matches_reference(
        [&](const Inputs& in) { return ops::binary_cross_entropy(in[0], targets); },
        [&](const auto& in) { return reference::binary_cross_entropy(in[0], expected); },
        {sample(shape)});
  }
}

TEST(BinaryCrossEntropy, TheReferenceHasTheRightGradient) {
  const auto targets = matrix_of(sample_targets({3, 5}));
  expect_gradient_is_right(
      [&](const auto& in) { return reference::binary_cross_entropy(in[0], targets); },
      {sample({3, 5})});
}

TEST(BinaryCrossEntropy, HugeLogitsStayFinite) {
  Tensor logits = Tensor::from({1e30f, -1e30f, 5000, -5000}, {1, 4});
  logits.require_gradient();
  const Tensor losses = ops::binary_cross_entropy(logits, Tensor::from({1, 0, 0, 1}, {1, 4}));
  EXPECT_EQ(values_of(losses), (std::vector<float>{0, 0, 5000, 5000}));
  backward(ops::sum(losses));
  EXPECT_EQ(values_of(logits.gradient()), (std::vector<float>{0, 0, 1, -1}));
}

TEST(BinaryCrossEntropy, RefusesOtherShapesAndTargetsThatAreNoProbabilities) {
  const Tensor logits = Tensor::zeros({2, 3});
  EXPECT_THROW(ops::binary_cross_entropy(logits, Tensor::zeros({3, 2})), Error);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float target : {-0.5f, 1.5f, nan}) {
    EXPECT_THROW(ops::binary_cross_entropy(logits, Tensor::full({2, 3}, target)), Error);
  }
}

}  // namespace
}  // namespace heed
