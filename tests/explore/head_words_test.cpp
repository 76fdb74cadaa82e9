#include "heed/explore/head_words.h"

#include <gtest/gtest.h>

#include "explore/small_folders.h"
#include "heed/explore/run.h"
#include "support/same_bits.h"

namespace heed::explore {
namespace {

// Four tokens: a special one, a word of two pieces, a word of one.
TokenList four_tokens() {
  return {.ids = {1, 7, 8, 9},
          .pieces = {"<s>", "ba", "t", "cave"},
          .texts = {"<s>", "ba", "t", "cave"},
          .words = {0, 1, 1, 2},
          .word_texts = {"<s>", "bat", "cave"},
          .is_special = {true, false, false, false}};
}

TEST(TokenGroups, AreTokensOrWordsWithOrWithoutSpecialOnes) {
  const TokenList tokens = four_tokens();
  EXPECT_EQ(token_groups(tokens, {}), (TokenGroups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(token_groups(tokens, {.by_word = true}), (TokenGroups{{0}, {1, 2}, {3}}));
  EXPECT_EQ(token_groups(tokens, {.hide_special = true}), (TokenGroups{{1}, {2}, {3}}));
  EXPECT_EQ(token_groups(tokens, {.by_word = true, .hide_special = true}),
            (TokenGroups{{1, 2}, {3}}));
}

// Halves and quarters, which add up without rounding.
TEST(GroupedWeights, AddUpTheKeysOfAWordAndAverageItsQueries) {
  const Tensor weights = Tensor::from({0.5f, 0.25f, 0.25f, 0.f,      //
                                       0.5f, 0.125f, 0.125f, 0.25f,  //
                                       0.f, 0.5f, 0.25f, 0.25f,      //
                                       1.f, 0.f, 0.f, 0.f},
                                      {1, 4, 4});
  const TokenGroups words{{0}, {1, 2}, {3}};
  const Tensor by_word = grouped_weights(weights, words, words, /*renormalise=*/false);
  EXPECT_EQ(by_word.shape(), (Shape{1, 3, 3}));
  EXPECT_TRUE(same_bits(by_word, Tensor::from({0.5f, 0.5f, 0.f,     //
                                               0.25f, 0.5f, 0.25f,  //
                                               1.f, 0.f, 0.f},
                                              {1, 3, 3})));
  // Without the first token the second row gives away a half, which counts as all of it; the last
  // row has nothing left.
  const TokenGroups left{{1, 2}, {3}};
  const Tensor shares = grouped_weights(weights, left, left, /*renormalise=*/true);
  EXPECT_TRUE(same_bits(shares, Tensor::from({0.625f, 0.375f, 0.f, 0.f}, {1, 2, 2})));
}

TEST(ShownWeights, AreTheEnginesOwnUnlessAskedOtherwise) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps in the cave")["trace"]);
  const Recording& recording = trace->recording;
  const std::string site = "decoder.0.cross_attention";
  const Tensor weights = recording.view(site).weights;
  EXPECT_TRUE(same_bits(shown_weights(recording, site, {}), weights));

  const Tensor shown = shown_weights(recording, site, {.by_word = true, .hide_special = true});
  const GroupOptions options{.by_word = true, .hide_special = true};
  EXPECT_EQ(shown.dim(1), std::ssize(token_groups(tokens_of(recording, "target"), options)));
  EXPECT_EQ(shown.dim(2), 6);  // words of the source
  for (Index row = 0; row < shown.dim(0) * shown.dim(1); ++row) {
    float sum = 0;
    for (Index key = 0; key < 6; ++key) sum += shown.data()[row * 6 + key];
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

}  // namespace
}  // namespace heed::explore
