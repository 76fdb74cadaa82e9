#include "heed/ops/similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

using ops::Similarity;

TEST(Similarity, SmallValuesByHand) {
  const Tensor a = Tensor::from({2, 3}, {1, 2}), b = Tensor::from({1, 4}, {1, 2});
  EXPECT_EQ(ops::dot_similarity(a, b).item(), 14);
  EXPECT_FLOAT_EQ(ops::scaled_dot_similarity(a, b).item(), 14 / std::sqrt(2.0f));
  // bat (3, 3) is as close to cave (4, 0) as to racket (0, 5), which have nothing in common.
  const Tensor words = Tensor::from({3, 3, 4, 0, 0, 5}, {3, 2});
  const Tensor cosine = ops::cosine_similarity(words, words);
  EXPECT_NEAR(cosine.values()[0], 1, 1e-6);
  EXPECT_NEAR(cosine.values()[1], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(cosine.values()[2], std::sqrt(0.5), 1e-6);
  EXPECT_EQ(cosine.values()[5], 0);
}

TEST(Similarity, ValuesAndGradientsMatchTheReference) {
  struct Sizes {
    Index rows, others, dim;
  };
  for (const auto [rows, others, dim] :
       {Sizes{1, 1, 2}, Sizes{3, 4, 5}, Sizes{7, 2, 17}, Sizes{40, 33, 64}}) {
    for (const Similarity kind : {Similarity::dot, Similarity::cosine, Similarity::scaled_dot}) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << ' ' << rows << ' ' << dim);
      expect_matches_reference(
          [&](const Inputs& in) { return ops::similarity(in[0], in[1], kind); },
          [&](const auto& in) { return reference::similarity(in[0], in[1], kind); },
          {sample({rows, dim}), sample({others, dim}, 2)});
    }
  }
}

TEST(Similarity, TheReferenceHasTheRightGradient) {
  for (const Similarity kind : {Similarity::dot, Similarity::cosine, Similarity::scaled_dot}) {
    expect_gradient_is_right(
        [&](const auto& in) { return reference::similarity(in[0], in[1], kind); },
        {sample({3, 4}), sample({2, 4}, 2)});
  }
}

TEST(Similarity, EachKindHasAFunctionOfItsOwn) {
  const Tensor a = sample({3, 5}), b = sample({2, 5}, 2);
  EXPECT_TRUE(same_bits(ops::similarity(a, b, Similarity::dot), ops::dot_similarity(a, b)));
  EXPECT_TRUE(same_bits(ops::similarity(a, b, Similarity::cosine), ops::cosine_similarity(a, b)));
  EXPECT_TRUE(
      same_bits(ops::similarity(a, b, Similarity::scaled_dot), ops::scaled_dot_similarity(a, b)));
}

TEST(Similarity, NamesAreReadBack) {
  for (const Similarity kind : {Similarity::dot, Similarity::cosine, Similarity::scaled_dot}) {
    EXPECT_EQ(parse_choice<Similarity>(name_of(kind), "similarity"), kind);
  }
  EXPECT_THROW(parse_choice<Similarity>("euclid", "similarity"), Error);
}

TEST(Similarity, CosineIsZeroBesideAZeroVectorAndIgnoresLength) {
  const Tensor zero = Tensor::zeros({1, 3}), x = Tensor::from({1, 2, 2}, {1, 3});
  EXPECT_EQ(ops::cosine_similarity(zero, x).item(), 0);
  EXPECT_EQ(ops::cosine_similarity(x, zero).item(), 0);
  const Tensor far = Tensor::from({1e15f, 2e15f, 2e15f}, {1, 3});
  EXPECT_FLOAT_EQ(ops::cosine_similarity(far, x).item(), 1);
}

TEST(Similarity, RefusesWidthsThatDiffer) {
  for (const Similarity kind : {Similarity::dot, Similarity::cosine, Similarity::scaled_dot}) {
    EXPECT_THROW(ops::similarity(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}), kind), Error);
  }
}

}  // namespace
}  // namespace heed
