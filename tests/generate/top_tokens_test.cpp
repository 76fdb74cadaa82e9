#include "heed/generate/top_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "heed/base/random.h"

namespace heed::generate {
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
    EXPECT_EQ(tokens_of(top_tokens(scores, count, {})), sorted);
  }
}

TEST(TopTokens, LeaveOutWhatIsForbiddenImpossibleOrNotANumber) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores{-1, -2, nan, -3, -inf, -0.5f};
  EXPECT_EQ(tokens_of(top_tokens(scores, 6, {})), (std::vector<int>{5, 0, 1, 3}));
  EXPECT_EQ(tokens_of(top_tokens(scores, 6, std::vector<int>{0, 5})), (std::vector<int>{1, 3}));
  EXPECT_TRUE(top_tokens(scores, 0, {}).empty());
}

}  // namespace
}  // namespace heed::generate
