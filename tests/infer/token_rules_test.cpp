#include "heed/infer/token_rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

using models::TokenRules;

constexpr float no = -INFINITY;
const text::SpecialTokens tokens{.pad = 0, .unknown = -1, .begin = -1, .ends = {5}};

struct Past {
  std::vector<int> ids = {1};
  Index num_prompt = 1;
  std::vector<int> source = {};
  Index max_new_tokens = 10;
};

// The scores of six tokens after the rules.
std::vector<float> ruled(const TokenRules& rules, const Past& past = {},
                         std::vector<float> scores = {-1, -2, -3, 4, 0, -6}) {
  apply_rules(scores, {past.ids, past.num_prompt, past.source, past.max_new_tokens}, rules, tokens);
  return scores;
}

using Scores = std::vector<float>;

TEST(TokenRules, ByDefaultNothingChanges) {
  EXPECT_FALSE(has_any({}));
  EXPECT_TRUE(has_any({.min_length = 1}));
  EXPECT_EQ(ruled({}), (Scores{-1, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, ARepetitionPenaltyCountsThePromptAndEachTokenOnce) {
  EXPECT_EQ(ruled({.repetition_penalty = 2}, {.ids = {1, 3, 3, 2}, .num_prompt = 2}),
            (Scores{-1, -4, -6, 2, 0, -6}));
}

TEST(TokenRules, NoNgramOccursTwice) {
  // 1 2 and 1 3 are there, and 1 is the last token.
  EXPECT_EQ(ruled({.no_repeat_ngram = 2}, {.ids = {1, 2, 1, 3, 1}}),
            (Scores{-1, -2, no, no, 0, -6}));
  EXPECT_EQ(ruled({.no_repeat_ngram = 3}, {.ids = {1, 2, 3, 1, 2}}),
            (Scores{-1, -2, -3, no, 0, -6}));
  EXPECT_EQ(ruled({.no_repeat_ngram = 3}, {.ids = {1}}), (Scores{-1, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, NoNgramOfTheSourceOccurs) {
  EXPECT_EQ(ruled({.encoder_no_repeat_ngram = 2}, {.ids = {0, 4}, .source = {4, 2, 4, 5, 3}}),
            (Scores{-1, -2, no, 4, 0, no}));
  EXPECT_EQ(ruled({.encoder_no_repeat_ngram = 1}, {.source = {2, 3}}),
            (Scores{-1, -2, no, no, 0, -6}));
}

TEST(TokenRules, BadWordsAreNeverCompleted) {
  const TokenRules rules{.bad_words = {{0}, {1, 2}, {3, 1, 4}}};
  EXPECT_EQ(ruled(rules, {.ids = {0, 1}}), (Scores{no, -2, no, 4, 0, -6}));
  EXPECT_EQ(ruled(rules, {.ids = {0, 3, 1}}), (Scores{no, -2, no, 4, no, -6}));
  EXPECT_EQ(ruled(rules, {.ids = {2}}), (Scores{no, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, ABadWordThatIsLongerThanTheTextIsNotLookedFor) {
  EXPECT_EQ(ruled({.bad_words = {{1, 2}}}, {.ids = {1}}), (Scores{-1, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, AMinimumLengthCountsThePromptAndAMinimumOfNewTokensDoesNot) {
  const Past past{.ids = {1, 2, 3}, .num_prompt = 2};
  EXPECT_EQ(ruled({.min_length = 4}, past), (Scores{-1, -2, -3, 4, 0, no}));
  EXPECT_EQ(ruled({.min_length = 3}, past), (Scores{-1, -2, -3, 4, 0, -6}));
  EXPECT_EQ(ruled({.min_new_tokens = 2}, past), (Scores{-1, -2, -3, 4, 0, no}));
  EXPECT_EQ(ruled({.min_new_tokens = 1}, past), (Scores{-1, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, TheForcedBeginIsTheSecondToken) {
  EXPECT_EQ(ruled({.forced_begin = 2}, {.ids = {1}}), (Scores{no, no, 0, no, no, no}));
  EXPECT_EQ(ruled({.forced_begin = 2}, {.ids = {1, 2}}), (Scores{-1, -2, -3, 4, 0, -6}));
}

TEST(TokenRules, AForcedEndIsTheLastTokenBeforeTheLimit) {
  const TokenRules rules{.forced_ends = {5, 4}};
  EXPECT_EQ(ruled(rules, {.ids = {1, 2, 3}, .max_new_tokens = 3}), (Scores{no, no, no, no, 0, 0}));
  EXPECT_EQ(ruled(rules, {.ids = {1, 2}, .max_new_tokens = 3}), (Scores{-1, -2, -3, 4, 0, -6}));
  EXPECT_EQ(ruled(rules, {.ids = {1, 2, 3}, .num_prompt = 2, .max_new_tokens = 2}),
            (Scores{no, no, no, no, 0, 0}));
}

TEST(TokenRules, SuppressedTokensNeverOccurNotEvenWhenTheyAreForced) {
  EXPECT_EQ(ruled({.suppressed = {3, 0}}), (Scores{no, -2, -3, no, 0, -6}));
  EXPECT_EQ(ruled({.forced_begin = 3, .suppressed = {3}}), (Scores{no, no, no, no, no, no}));
}

TEST(TokenRules, SomeTokensAreOnlyNotTheFirst) {
  const TokenRules rules{.begin_suppressed = {3}};
  EXPECT_EQ(ruled(rules, {.ids = {1}}), (Scores{-1, -2, -3, no, 0, -6}));
  EXPECT_EQ(ruled(rules, {.ids = {1, 2}}), (Scores{-1, -2, -3, 4, 0, -6}));
  EXPECT_EQ(ruled(rules, {.ids = {1, 2}, .num_prompt = 2}), (Scores{-1, -2, -3, no, 0, -6}));
  // The first choice is the one after the begin that is forced to be 2.
  const TokenRules both{.forced_begin = 2, .begin_suppressed = {3}};
  EXPECT_EQ(ruled(both, {.ids = {1, 2}}), (Scores{-1, -2, -3, no, 0, -6}));
}

TEST(TokenRules, IdsOutsideTheVocabularyAreRefused) {
  const auto error = [](const TokenRules& rules) {
    expect_error(ErrorKind::model,
                 "generation_config.json: expected ids of tokens below 6, found 6",
                 [&] { check_rules(rules, 6); });
  };
  error({.bad_words = {{1, 6}}});
  error({.forced_begin = 6});
  error({.forced_ends = {6}});
  error({.suppressed = {6}});
  error({.begin_suppressed = {6}});
  check_rules({.bad_words = {{5}}}, 6);
}

}  // namespace
}  // namespace heed::infer
