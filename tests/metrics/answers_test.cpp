#include "heed/metrics/answers.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Lines = std::vector<std::string>;

TEST(ExactMatch, ComparesAllButTheSpaceAtBothEnds) {
  EXPECT_TRUE(is_exact_match(" 1969-07-20\t", Lines{"1969-07-20\u00a0"}));
  EXPECT_TRUE(is_exact_match("", Lines{" "}));
  EXPECT_FALSE(is_exact_match("two  words", Lines{"two words"}));
  EXPECT_FALSE(is_exact_match("the cat.", Lines{"the cat"}));
}

TEST(ExactMatch, MindsTheCaseUnlessToldNotTo) {
  EXPECT_FALSE(is_exact_match("Straße Ä", Lines{"straße ä"}));
  EXPECT_TRUE(is_exact_match("Straße Ä", Lines{"straße ä"}, {.lowercase = true}));
}

TEST(ExactMatch, TakesAnyOfSeveralReferences) {
  EXPECT_TRUE(is_exact_match("b", Lines{"a", "b"}));
  EXPECT_FALSE(is_exact_match("c", Lines{"a", "b"}));
  EXPECT_EQ(count_exact_matches(Lines{"a", "b", "c"}, Lines{"a", "x", "c"}), 2);
  EXPECT_EQ(count_exact_matches(Lines{"a", "b"}, std::vector<Lines>{{"x", "a"}, {"y"}}), 1);
  EXPECT_EQ(count_exact_matches(Lines{}, Lines{}), 0);
}

TEST(ExactMatch, RefusesDifferentCountsAndNoReferences) {
  EXPECT_THROW(count_exact_matches(Lines{"a", "b"}, Lines{"a"}), Error);
  EXPECT_THROW(is_exact_match("a", Lines{}), Error);
}

TEST(Squad, NormalizesAnswers) {
  EXPECT_EQ(normalize_answer("The  Cat's  \u00a0 \"hat\", an hour a day!"), "cats hat hour day");
  EXPECT_EQ(normalize_answer("the theatre"), "theatre");
  EXPECT_EQ(normalize_answer("AN A THE"), "");
  EXPECT_EQ(normalize_answer("$1,000.50"), "100050");
  EXPECT_EQ(normalize_answer("a_b a-b"), "ab ab");
  EXPECT_EQ(normalize_answer(""), "");
}

// Only ASCII punctuation is removed, and it is what \b of Python's re says that ends an article.
TEST(Squad, NormalizesTextBeyondAscii) {
  EXPECT_EQ(normalize_answer("«Der Ärger»"), "«der ärger»");
  EXPECT_EQ(normalize_answer("a\u2014b"), "\u2014b");
  EXPECT_EQ(normalize_answer("a\u0301 b"), "\u0301 b");
  EXPECT_EQ(normalize_answer("a猫 the½ an²"), "a猫 the½ an²");
}

TEST(Squad, ScoresTheWordsInCommon) {
  const SquadScores equal = squad("The Norman conquest.", Lines{"norman conquest"});
  EXPECT_EQ(equal.exact_match, 1);
  EXPECT_EQ(equal.f1, 1);
  // 2 of 3 words, 2 of 4.
  const SquadScores part = squad("in the 10th century", Lines{"10th and 11th century"});
  EXPECT_EQ(part.exact_match, 0);
  EXPECT_DOUBLE_EQ(part.f1, 4.0 / 7);
  EXPECT_EQ(squad("France", Lines{"Normandy"}).f1, 0);
  // A word counts as often as both have it: 2 of 3, 2 of 2.
  EXPECT_DOUBLE_EQ(squad("b b b", Lines{"b b"}).f1, 0.8);
}

TEST(Squad, TakesTheBestOfSeveralReferences) {
  const SquadScores scores = squad("10th century", Lines{"9th century", "the 10th Century", "x"});
  EXPECT_EQ(scores.exact_match, 1);
  EXPECT_EQ(scores.f1, 1);
  EXPECT_DOUBLE_EQ(squad("b c", Lines{"b x y", "b z"}).f1, 0.5);
}

// As in SQuAD 2.0, where a question may have no answer.
TEST(Squad, NoWordsMatchNoWords) {
  EXPECT_EQ(squad("", Lines{""}).exact_match, 1);
  EXPECT_EQ(squad("", Lines{""}).f1, 1);
  EXPECT_EQ(squad("the", Lines{"."}).f1, 1);
  EXPECT_EQ(squad("b", Lines{""}).f1, 0);
  EXPECT_EQ(squad("", Lines{"b"}).f1, 0);
  EXPECT_EQ(squad("", Lines{"", "b"}).f1, 0);
  EXPECT_EQ(squad("", Lines{"", "b"}).exact_match, 0);
}

TEST(Squad, OfACorpusIsTheMean) {
  const SquadScores scores = corpus_squad(Lines{"b c", "x", "y"}, Lines{"b c", "x z", "w"});
  EXPECT_DOUBLE_EQ(scores.exact_match, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.f1, (1 + 2.0 / 3) / 3);
  EXPECT_EQ(corpus_squad(Lines{"x"}, std::vector<Lines>{{"y", "x"}}).exact_match, 1);
  EXPECT_EQ(corpus_squad(Lines{}, Lines{}).f1, 0);
}

TEST(Squad, RefusesDifferentCountsAndNoReferences) {
  EXPECT_THROW(corpus_squad(Lines{"a", "b"}, Lines{"a"}), Error);
  EXPECT_THROW(squad("a", Lines{}), Error);
}

TEST(Answers, HaveSignatures) {
  EXPECT_EQ(exact_match_signature({}), "nrefs:1|case:mixed");
  EXPECT_EQ(exact_match_signature({.lowercase = true}), "nrefs:1|case:lc");
  EXPECT_EQ(squad_signature(), "nrefs:1|version:2.0-heed");
}

}  // namespace
}  // namespace heed::metrics
