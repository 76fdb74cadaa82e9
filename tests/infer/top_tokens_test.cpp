#include "heed/infer/top_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "heed/base/random.h"
#include "heed/core/tensor.h"
#include "heed/ops/softmax.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

std::vector<int> tokens_of(const std::vector<TokenScore>& scores) {
  std::vector<int> tokens;
  for (const TokenScore& score : scores) tokens.push_back(score.token);
  return tokens;
}

TEST(TopTokens, EqualTheBeginningOfAFullSort) {
  Rng rng(3);
  for (const Index count : {1, 2, 10, 300}) {
    std::vector<float> scores(257);
    for (float& score : scores) score = -static_cast<float>(rng.below(40));  // with many ties
    std::vector<int> sorted(scores.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<int>(i);
    std::ranges::stable_sort(sorted, [&](int a, int b) { return scores[a] > scores[b]; });
    sorted.resize(std::min<std::size_t>(sorted.size(), count));
    EXPECT_EQ(tokens_of(top_tokens(LogProbabilities::of_values(scores), count, {})), sorted);
  }
}

TEST(TopTokens, LeaveOutWhatIsForbiddenImpossibleOrNotANumber) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores{-1, -2, nan, -3, -inf, -0.5f};
  EXPECT_EQ(tokens_of(top_tokens(LogProbabilities::of_values(scores), 6, {})),
            (std::vector<int>{5, 0, 1, 3}));
  EXPECT_EQ(tokens_of(top_tokens(LogProbabilities::of_values(scores), 6, std::vector<int>{0, 5})),
            (std::vector<int>{1, 3}));
  EXPECT_TRUE(top_tokens(LogProbabilities::of_values(scores), 0, {}).empty());
}

TEST(TopTokens, AreAllOfThemWhenMoreAreAskedFor) {
  const std::vector<float> scores{-1, -2};
  const Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(tokens_of(top_tokens(LogProbabilities::of_values(scores), most, {})),
            (std::vector<int>{0, 1}));
}

TEST(LogProbabilities, RefuseLogitsWithoutASoftmax) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {nan, inf}) {
    for (const std::size_t place : {0u, 3u, 16u, 20u}) {
      std::vector<float> logits(21, 1.0f);
      logits[place] = wrong;
      expect_error(
          ErrorKind::model,
          "model: expected finite logits, found NaN or infinity (weights are damaged, or too large "
          "for this input)",
          [&] { LogProbabilities::of_logits(logits); });
    }
  }
  EXPECT_THROW(LogProbabilities::of_logits(std::vector<float>{-inf, -inf}), Error);
  const std::vector<float> impossible{1, -inf};
  EXPECT_EQ(LogProbabilities::of_logits(impossible)[0], 0);
}

TEST(LogProbabilities, OfLogitsHaveTheBitsOfLogSoftmax) {
  Rng rng(5);
  for (const Index width : {1, 7, 8, 33, 1000}) {
    const Tensor logits = Tensor::randn({1, width}, rng);
    const Tensor expected = ops::log_softmax(logits);
    const auto found = LogProbabilities::of_logits(logits.values());
    for (Index token = 0; token < width; ++token) {
      EXPECT_EQ(found[token], expected.values()[token]) << token << " of " << width;
      // Compared as the written log-probabilities are: its own value is never above itself.
      const auto above = std::ranges::find_if(expected.values(),
                                              [&](float value) { return value > found[token]; });
      EXPECT_EQ(found.first_above(0, width, found[token]), above - expected.values().begin());
    }
    EXPECT_EQ(tokens_of(top_tokens(found, 5, {})),
              tokens_of(top_tokens(LogProbabilities::of_values(expected.values()), 5, {})));
  }
}

TEST(LogProbabilities, FindTheFirstAboveAThresholdWhereverItStands) {
  for (const Index width : {1, 5, 8, 31, 32, 33, 70}) {
    for (Index place = 0; place < width; ++place) {
      std::vector<float> scores(width, -2.0f);
      scores[place] = -1;
      const auto found = LogProbabilities::of_values(scores);
      EXPECT_EQ(found.first_above(0, width, -2), place);
      EXPECT_EQ(found.first_above(place, place + 1, -2), place);
      EXPECT_EQ(found.first_above(0, place, -2), place);  // the end: it stands behind
      EXPECT_EQ(found.first_above(place + 1, width, -2), width);
      EXPECT_EQ(found.first_above(0, width, -1), width);  // equal is not above
    }
  }
}

}  // namespace
}  // namespace heed::infer
