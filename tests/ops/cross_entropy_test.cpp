#include "heed/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/projection_cross_entropy.h"
#include "support/gradient_check.h"
#include "support/reference_losses.h"
#include "support/same_bits.h"

namespace heed {
namespace {

using ops::CrossEntropyOptions;
using ops::Reduction;

std::vector<int> sample_targets(Index count, Index classes) {
  Rng rng(random_key(3, count, classes));
  std::vector<int> targets(count);
  for (int& target : targets) target = static_cast<int>(rng.below(classes));
  return targets;
}

TEST(CrossEntropy, SmallValuesByHand) {
  // p = 1/8, 2/8, 5/8 in both rows.
  const float two = std::log(2.0f), five = std::log(5.0f);
  const Tensor logits = Tensor::from({0, two, five, 0, two, five}, {2, 3});
  const std::vector<int> targets = {2, 1};
  const float first = -std::log(0.625f), second = -std::log(0.25f);
  EXPECT_FLOAT_EQ(ops::cross_entropy(logits, targets).item(), (first + second) / 2);
  EXPECT_FLOAT_EQ(ops::cross_entropy(logits, targets, {.reduction = Reduction::sum}).item(),
                  first + second);
  const Tensor each = ops::cross_entropy(logits, targets, {.reduction = Reduction::none});
  EXPECT_EQ(each.shape(), (Shape{2}));
  EXPECT_FLOAT_EQ(each.values()[1], second);
  EXPECT_FLOAT_EQ(ops::cross_entropy(logits, targets, {.ignore = 2}).item(), second);
  const std::vector<float> weights = {7, 1, 3};
  EXPECT_FLOAT_EQ(ops::cross_entropy(logits, targets, {.class_weights = weights}).item(),
                  (3 * first + 1 * second) / 4);
}

TEST(CrossEntropy, SmoothingByHand) {
  // Three quarters of the target's cost and a quarter of the mean cost.
  const Tensor logits = Tensor::from({0, std::log(3.0f)}, {1, 2});
  const float expected = 0.75f * std::log(4.0f) + 0.25f * (std::log(4.0f) - std::log(3.0f) / 2);
  EXPECT_FLOAT_EQ(
      ops::cross_entropy(logits, std::vector<int>{0}, {.label_smoothing = 0.25f}).item(), expected);
}

TEST(CrossEntropy, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{1, 5}, Shape{4, 17}, Shape{37, 33}, Shape{9, 300}}) {
    const std::vector<int> targets = sample_targets(shape[0], shape[1]);
    std::vector<float> weights(shape[1]);
    for (Index c = 0; c < shape[1]; ++c) weights[c] = 0.5f + static_cast<float>(c % 3);
    for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
      for (const float smoothing : {0.0f, 0.1f}) {
        for (const bool weighted : {false, true}) {
          for (const bool ignoring : {false, true}) {
            if (ignoring && shape[0] == 1) continue;   // nothing would be left
            if (weighted && smoothing != 0) continue;  // refused
            SCOPED_TRACE(testing::Message() << shape << " smoothing " << smoothing << " weighted "
                                            << weighted << " ignoring " << ignoring);
            CrossEntropyOptions options{.label_smoothing = smoothing, .reduction = reduction};
            if (weighted) options.class_weights = weights;
            if (ignoring) options.ignore = targets[0];
            expect_matches_reference(
                [&](const Inputs& in) { return ops::cross_entropy(in[0], targets, options); },
                [&](const auto& in) { return reference::cross_entropy(in[0], targets, options); },
                {sample(shape)});
          }
        }
      }
    }
  }
}

TEST(CrossEntropy, TheReferenceHasTheRightGradient) {
  const std::vector<int> targets = {1, 4, 0};
  const std::vector<float> weights = {1, 2, 3, 4, 5};
  for (const CrossEntropyOptions& options :
       {CrossEntropyOptions{.label_smoothing = 0.1f}, {.ignore = 4, .class_weights = weights}}) {
    expect_gradient_is_right(
        [&](const auto& in) { return reference::cross_entropy(in[0], targets, options); },
        {sample({3, 5})});
  }
}

TEST(CrossEntropy, HugeLogitsStayFinite) {
  Tensor logits = Tensor::from({1e30f, -1e30f, 0, 5000, -5000, 0}, {2, 3});
  logits.require_gradient();
  const Tensor loss =
      ops::cross_entropy(logits, std::vector<int>{0, 1}, {.reduction = Reduction::none});
  EXPECT_EQ(loss.values()[0], 0);
  EXPECT_FLOAT_EQ(loss.values()[1], 10000);
  backward(ops::sum(loss));
  EXPECT_EQ(values_of(logits.gradient()), (std::vector<float>{0, 0, 0, 1, -1, 0}));
}

TEST(CrossEntropy, IgnoredTargetsMayLieOutsideTheClasses) {
  const Tensor logits = sample({3, 4});
  const std::vector<int> targets = {1, -5, 2};
  const Tensor loss =
      ops::cross_entropy(logits, targets, {.ignore = -5, .reduction = Reduction::none});
  EXPECT_EQ(loss.values()[1], 0);
  EXPECT_GT(loss.values()[0], 0);
}

TEST(CrossEntropy, RefusesTargetsOutsideTheClassesAndWrongCounts) {
  const Tensor logits = Tensor::zeros({2, 3});
  EXPECT_THROW(ops::cross_entropy(logits, std::vector<int>{0, 3}), Error);
  EXPECT_THROW(ops::cross_entropy(logits, std::vector<int>{0, -1}), Error);
  EXPECT_THROW(ops::cross_entropy(logits, std::vector<int>{0}), Error);
  const std::vector<float> weights = {1, 2};
  EXPECT_THROW(ops::cross_entropy(logits, std::vector<int>{0, 1}, {.class_weights = weights}),
               Error);
  const std::vector<float> three = {1, 2, 3};
  EXPECT_THROW(ops::cross_entropy(logits, std::vector<int>{0, 1},
                                  {.label_smoothing = 0.1f, .class_weights = three}),
               Error);
}

// ---- Projection and loss together

struct ProjectionSizes {
  Index rows, dim, classes;
};

const std::vector<ProjectionSizes> projection_sizes = {
    {1, 1, 1},      {1, 5, 2},     {7, 17, 33},    {65, 16, 130},
    {140, 33, 301}, {9, 700, 301}, {400, 3, 1100},  // these two in several tiles and chunks
    {9, 700, 650}};                                 // in so many that their number is rounded up

TEST(ProjectionCrossEntropy, ValuesAndGradientsMatchTheReference) {
  for (const auto [rows, dim, classes] : projection_sizes) {
    const std::vector<int> targets = sample_targets(rows, classes);
    for (const float smoothing : {0.0f, 0.1f}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << dim << " x " << classes);
      const Inputs inputs = {sample({rows, dim}), sample({classes, dim}, 2), sample({classes}, 3)};
      expect_matches_reference(
          [&](const Inputs& in) {
            return ops::projection_cross_entropy(in[0], in[1], in[2], targets, smoothing).loss;
          },
          [&](const auto& in) {
            return reference::projection_cross_entropy(in[0], in[1], in[2], targets, smoothing);
          },
          inputs);
      expect_matches_reference(
          [&](const Inputs& in) {
            return ops::projection_cross_entropy(in[0], in[1], Tensor(), targets, smoothing).loss;
          },
          [&]<typename T>(const reference::Matrices<T>& in) {
            return reference::projection_cross_entropy(in[0], in[1], reference::Matrix<T>(),
                                                       targets, smoothing);
          },
          {inputs[0], inputs[1]});
    }
  }
}

TEST(ProjectionCrossEntropy, OfCappedLogitsMatchesTheReference) {
  for (const auto [rows, dim, classes] : projection_sizes) {
    const std::vector<int> targets = sample_targets(rows, classes);
    for (const float smoothing : {0.0f, 0.1f}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << dim << " x " << classes);
      expect_matches_reference(
          [&](const Inputs& in) {
            return ops::projection_cross_entropy(in[0], in[1], in[2], targets, smoothing, 2.5f)
                .loss;
          },
          [&](const auto& in) {
            return reference::projection_cross_entropy(in[0], in[1], in[2], targets, smoothing,
                                                       2.5);
          },
          {sample({rows, dim}), sample({classes, dim}, 2), sample({classes}, 3)}, 3e-5);
    }
  }
}

TEST(ProjectionCrossEntropy, EqualsLinearThenCrossEntropy) {
  for (const auto [rows, dim, classes] : projection_sizes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << dim << " x " << classes);
    const std::vector<int> targets = sample_targets(rows, classes);
    const Tensor x = sample({rows, dim}), weight = sample({classes, dim}, 2),
                 bias = sample({classes}, 3);
    const ops::ProjectionLoss fused = ops::projection_cross_entropy(x, weight, bias, targets, 0.1f);
    const Tensor logits = ops::linear(x, weight, bias);
    const double smoothed =
        ops::cross_entropy(logits, targets, {.label_smoothing = 0.1f, .reduction = Reduction::sum})
            .item();
    const double plain = ops::cross_entropy(logits, targets, {.reduction = Reduction::sum}).item();
    EXPECT_NEAR(fused.loss.item(), smoothed, 1e-5 * std::abs(smoothed));
    EXPECT_NEAR(fused.negative_log_likelihood, plain, 1e-5 * std::abs(plain));
  }
}

// Minus infinity for more words than a tile of the weight has: they cost nothing and learn nothing.
TEST(ProjectionCrossEntropy, ImpossibleWordsChangeNothing) {
  constexpr Index rows = 5, dim = 3, classes = 1100, possible = 400;
  std::vector<int> targets;
  for (int i = 0; i < rows; ++i) targets.push_back(classes - 1 - i);
  Inputs all = {sample({rows, dim}), sample({classes, dim}, 2), sample({classes}, 3)};
  std::fill_n(all[2].data(), classes - possible, -std::numeric_limits<float>::infinity());
  const auto last = [](const Tensor& x, const Shape& shape) {
    return Tensor::from(x.values().last(static_cast<std::size_t>(shape.size())), shape);
  };
  const Tensor few_weights = last(all[1], {possible, dim}), few_biases = last(all[2], {possible});
  std::vector<int> few_targets;
  for (int i = 0; i < rows; ++i) few_targets.push_back(possible - 1 - i);

  for (Tensor& tensor : all) tensor.require_gradient();
  const Tensor loss = ops::projection_cross_entropy(all[0], all[1], all[2], targets, 0).loss;
  backward(loss);
  EXPECT_FLOAT_EQ(loss.item(), ops::projection_cross_entropy(all[0].detach(), few_weights,
                                                             few_biases, few_targets, 0)
                                   .loss.item());
  for (Index i = 0; i < classes - possible; ++i) {
    ASSERT_EQ(all[2].gradient().values()[i], 0) << i;
  }
  for (const Tensor& tensor : all) {
    for (const float g : tensor.gradient().values()) ASSERT_TRUE(std::isfinite(g));
  }
}

TEST(ProjectionCrossEntropy, AFrozenWeightGetsNoGradientAndChangesNoOther) {
  constexpr Index rows = 40, dim = 16, classes = 1100;
  const std::vector<int> targets = sample_targets(rows, classes);
  const Tensor weight = sample({classes, dim}, 2);
  Tensor trained = weight.clone();
  trained.require_gradient();
  Tensor dx[2];
  Index peaks[2];
  for (const bool is_frozen : {false, true}) {
    Tensor x = sample({rows, dim}), bias = sample({classes}, 3);
    x.require_gradient();
    bias.require_gradient();
    const Index before = tensor_bytes();
    reset_peak_tensor_bytes();
    backward(ops::projection_cross_entropy(x, is_frozen ? weight : trained, bias, targets, 0).loss);
    peaks[is_frozen] = peak_tensor_bytes() - before;
    dx[is_frozen] = x.gradient();
  }
  EXPECT_TRUE(same_bits(dx[0], dx[1]));
  EXPECT_LE(peaks[1] + weight.size() * static_cast<Index>(sizeof(float)), peaks[0]);
}

TEST(ProjectionCrossEntropy, TheSameWithoutARecord) {
  const std::vector<int> targets = sample_targets(7, 33);
  Tensor x = sample({7, 16});
  const Tensor weight = sample({33, 16}, 2);
  const float without =
      ops::projection_cross_entropy(x, weight, Tensor(), targets, 0.1f).loss.item();
  x.require_gradient();
  EXPECT_EQ(ops::projection_cross_entropy(x, weight, Tensor(), targets, 0.1f).loss.item(), without);
}

TEST(ProjectionCrossEntropy, APackedWeightGivesTheSameLoss) {
  const Tensor x = sample({500, 20}), weight = sample({30, 20}, 2);
  std::vector<int> targets(500);
  for (int i = 0; i < 500; ++i) targets[i] = i * 7 % 30;
  const ops::PackedMatrix packed(weight, WeightFormat::int8);
  const auto expected =
      ops::projection_cross_entropy(x, packed.dequantize(), Tensor(), targets, 0.1f);
  const auto found = ops::projection_cross_entropy(x, packed, Tensor(), targets, 0.1f);
  const Tensor bias = sample({30}, 3);
  const auto capped =
      ops::projection_cross_entropy(x, packed.dequantize(), bias, targets, 0.1f, 2.0f);
  const auto packed_capped = ops::projection_cross_entropy(x, packed, bias, targets, 0.1f, 2.0f);
  EXPECT_NEAR(packed_capped.loss.item(), capped.loss.item(), 1e-5 * capped.loss.item());
  EXPECT_EQ(found.loss.item(), expected.loss.item());
  EXPECT_EQ(found.negative_log_likelihood, expected.negative_log_likelihood);
  EXPECT_THROW(ops::projection_cross_entropy(sample({500, 19}), packed, Tensor(), targets, 0),
               Error);
  targets[3] = 30;
  EXPECT_THROW(ops::projection_cross_entropy(x, packed, Tensor(), targets, 0), Error);
}

TEST(ProjectionCrossEntropy, TheNumberOfThreadsChangesNoBit) {
  const int before = num_threads();
  const std::vector<int> targets = sample_targets(900, 257);
  const auto run = [&](int threads) {
    set_num_threads(threads);
    Inputs in = {sample({900, 48}), sample({257, 48}, 2), sample({257}, 3)};
    for (Tensor& tensor : in) tensor.require_gradient();
    const Tensor loss = ops::projection_cross_entropy(in[0], in[1], in[2], targets, 0.1f).loss;
    backward(loss);
    return Inputs{loss, in[0].gradient(), in[1].gradient(), in[2].gradient()};
  };
  const Inputs one = run(1), two = run(2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << i;
  set_num_threads(before);
}

TEST(CrossEntropy, AnImpossibleOtherClassLeavesTheLossFinite) {
  const float never = -std::numeric_limits<float>::infinity();
  const Tensor logits = Tensor::from({0, never, 0}, {1, 3});
  EXPECT_FLOAT_EQ(ops::cross_entropy(logits, std::vector<int>{0}).item(), std::log(2.0f));
}

TEST(ProjectionCrossEntropy, HugeLogitsStayFinite) {
  const Tensor x = Tensor::from({1e4f}, {1, 1});
  const Tensor weight = Tensor::from({1, -1}, {2, 1});
  EXPECT_EQ(ops::projection_cross_entropy(x, weight, Tensor(), std::vector<int>{0}, 0).loss.item(),
            0);
  EXPECT_FLOAT_EQ(
      ops::projection_cross_entropy(x, weight, Tensor(), std::vector<int>{1}, 0).loss.item(), 2e4f);
}

TEST(ProjectionCrossEntropy, RefusesSizesThatDoNotFit) {
  const Tensor x = Tensor::zeros({2, 3}), weight = Tensor::zeros({5, 3});
  const std::vector<int> targets = {0, 1};
  EXPECT_THROW(ops::projection_cross_entropy(x, Tensor::zeros({5, 4}), Tensor(), targets, 0),
               Error);
  EXPECT_THROW(ops::projection_cross_entropy(x, weight, Tensor::zeros({4}), targets, 0), Error);
  EXPECT_THROW(ops::projection_cross_entropy(x, weight, Tensor(), std::vector<int>{0}, 0), Error);
  EXPECT_THROW(ops::projection_cross_entropy(x, weight, Tensor(), std::vector<int>{0, 5}, 0),
               Error);
}

}  // namespace
}  // namespace heed
