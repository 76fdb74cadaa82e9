#include "heed/explore/word_plane.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/ops/attention.h"
#include "heed/ops/matmul.h"
#include "support/same_bits.h"

namespace heed::explore {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor identity() { return Tensor::from({1, 0, 0, 1}, {2, 2}); }
PlaneHead plain_head() { return {identity(), identity(), identity()}; }
Tensor three_words() { return Tensor::from({0.7f, 0.6f, 0.1f, 0.9f, 0.95f, 0.1f}, {3, 2}); }

WordPlane rotated_plane() {
  return {.words = three_words(),
          .heads = {{Tensor::from({0.5f, -1, 2, 0.25f}, {2, 2}), identity(),
                     Tensor::from({1, 0.5f, 0, 1}, {2, 2})},
                    {identity(), Tensor::from({0, 1, -1, 0}, {2, 2}), identity()}},
          .output = Tensor::from({1, 0, 0, 1, 0.5f, 0, 0, -0.5f}, {4, 2})};
}

// Rows times columns, with the numbers that the steps show.
float dot(const Tensor& pairs, Index i, Index j, Index words) {
  return pairs.data()[(i * words + j) * 2] + pairs.data()[(i * words + j) * 2 + 1];
}

TEST(WordPlane, WithoutMatricesIsSelfAttentionToTheBit) {
  for (const auto similarity :
       {ops::Similarity::dot, ops::Similarity::cosine, ops::Similarity::scaled_dot}) {
    const PlaneAttention found = attend_in_plane(
        {.words = three_words(), .similarity = similarity, .heads = {plain_head()}});
    const Tensor expected = ops::self_attention(
        {three_words(), Spans::single(3)}, ops::AttentionMask::none(), {.similarity = similarity});
    EXPECT_TRUE(same_bits(found.outputs, expected));
    EXPECT_TRUE(same_bits(found.heads[0].contexts, expected));
    EXPECT_TRUE(same_bits(found.heads[0].queries, three_words()));
  }
}

TEST(WordPlane, EveryStepFollowsFromTheOneBefore) {
  for (const auto similarity :
       {ops::Similarity::dot, ops::Similarity::cosine, ops::Similarity::scaled_dot}) {
    WordPlane plane = rotated_plane();
    plane.similarity = similarity;
    plane.may_see = {true, false, true, true, true, false, false, true, true};
    for (const PlaneHeadSteps& head : attend_in_plane(plane).heads) {
      for (Index i = 0; i < 3; ++i) {
        float x = 0, y = 0;
        for (Index j = 0; j < 3; ++j) {
          const Index cell = i * 3 + j;
          const float score = head.similarities.data()[cell];
          EXPECT_NEAR(dot(head.products, i, j, 3) * head.scale, score, 1e-6);
          const bool may_see = plane.may_see[static_cast<std::size_t>(cell)];
          EXPECT_EQ(head.masked.data()[cell], may_see ? score : -infinity);
          const float e = head.exps.data()[cell];
          EXPECT_NEAR(e, may_see ? std::exp(score - head.row_max.data()[i]) : 0, 1e-6);
          EXPECT_EQ(head.weights.data()[cell], e * (1 / head.row_sums.data()[i])) << "to the bit";
          x += head.pulls.data()[cell * 2];
          y += head.pulls.data()[cell * 2 + 1];
        }
        EXPECT_NEAR(
            head.row_sums.data()[i],
            head.exps.data()[i * 3] + head.exps.data()[i * 3 + 1] + head.exps.data()[i * 3 + 2],
            1e-6);
        EXPECT_NEAR(x, head.contexts.data()[i * 2], 1e-6);
        EXPECT_NEAR(y, head.contexts.data()[i * 2 + 1], 1e-6);
      }
    }
  }
}

TEST(WordPlane, HeadsWorkAloneAndMeetInTheOutputMatrix) {
  const WordPlane plane = rotated_plane();
  const PlaneAttention both = attend_in_plane(plane);
  ASSERT_EQ(both.heads.size(), 2u);
  for (Index h = 0; h < 2; ++h) {
    const PlaneHead& own = plane.heads[static_cast<std::size_t>(h)];
    const PlaneAttention alone = attend_in_plane({.words = plane.words, .heads = {own}});
    const Tensor& contexts = both.heads[static_cast<std::size_t>(h)].contexts;
    EXPECT_TRUE(same_bits(alone.outputs, contexts));
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(both.concatenated.data()[i * 4 + h * 2], contexts.data()[i * 2]);
      EXPECT_EQ(both.concatenated.data()[i * 4 + h * 2 + 1], contexts.data()[i * 2 + 1]);
    }
    EXPECT_TRUE(same_bits(alone.heads[0].queries, ops::matmul(plane.words, own.query)));
  }
  EXPECT_TRUE(same_bits(both.outputs, ops::matmul(both.concatenated, plane.output)));
}

TEST(WordPlane, AWordThatSeesNothingStaysAtZero) {
  WordPlane plane{.words = three_words(), .heads = {plain_head()}};
  plane.may_see = {false, false, false, true, true, true, true, true, true};
  const PlaneHeadSteps head = attend_in_plane(plane).heads[0];
  EXPECT_EQ(head.row_max.data()[0], -infinity);
  EXPECT_EQ(head.row_sums.data()[0], 0);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_EQ(head.exps.data()[j], 0);
    EXPECT_EQ(head.weights.data()[j], 0);
  }
  EXPECT_EQ(head.contexts.data()[0], 0);
  EXPECT_EQ(head.contexts.data()[1], 0);
}

TEST(WordPlane, RefusesWhatDoesNotFit) {
  const auto refuses = [](auto change) {
    WordPlane plane = rotated_plane();
    change(plane);
    EXPECT_THROW(attend_in_plane(plane), Error);
  };
  refuses([](WordPlane& plane) { plane.words = Tensor::zeros({3, 3}); });
  refuses([](WordPlane& plane) { plane.heads.clear(); });
  refuses([](WordPlane& plane) { plane.heads[1].key = Tensor::zeros({2, 3}); });
  refuses([](WordPlane& plane) { plane.output = {}; });
  refuses([](WordPlane& plane) { plane.output = identity(); });
  refuses([](WordPlane& plane) { plane.may_see = {true, false}; });
}

}  // namespace
}  // namespace heed::explore
