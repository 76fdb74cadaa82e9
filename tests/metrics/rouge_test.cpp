#include "heed/metrics/rouge.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Lines = std::vector<std::string>;

void expect_score(const PrecisionRecall& score, double precision, double recall, double f1) {
  EXPECT_NEAR(score.precision, precision, 1e-12);
  EXPECT_NEAR(score.recall, recall, 1e-12);
  EXPECT_NEAR(score.f1, f1, 1e-12);
}

// Lin, 2004, section 3.1: both have the words and the pair "the gunman", but only the first has
// words of the reference in its order.
TEST(Rouge, OrdersTheExampleOfThePaper) {
  const std::string reference = "police killed the gunman";
  const RougeScores first = rouge("police kill the gunman", reference);
  const RougeScores second = rouge("the gunman kill police", reference);
  expect_score(first.rouge_1, 0.75, 0.75, 0.75);
  expect_score(second.rouge_1, 0.75, 0.75, 0.75);
  expect_score(first.rouge_2, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  expect_score(second.rouge_2, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  expect_score(first.rouge_l, 0.75, 0.75, 0.75);
  expect_score(second.rouge_l, 0.5, 0.5, 0.5);
}

// Values that the package's own tests expect.
TEST(Rouge, HasTheValuesOfRougeScore) {
  expect_score(rouge("testing", "testing one two").rouge_1, 1, 1.0 / 3, 0.5);
  const RougeScores consecutive = rouge("testing one", "testing one two");
  expect_score(consecutive.rouge_1, 1, 2.0 / 3, 0.8);
  expect_score(consecutive.rouge_2, 1, 0.5, 2.0 / 3);
  expect_score(consecutive.rouge_l, 1, 2.0 / 3, 0.8);
  const RougeScores apart = rouge("testing two", "testing one two");
  expect_score(apart.rouge_2, 0, 0, 0);
  expect_score(apart.rouge_l, 1, 2.0 / 3, 0.8);
}

// By hand: 6 of 8 and 9 words match, the pairs "the quick" and "quick brown" too, and the longest
// common subsequence is "the quick brown jumps the".
TEST(Rouge, ScoresASentence) {
  const RougeScores scores =
      rouge("The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog");
  expect_score(scores.rouge_1, 6.0 / 8, 6.0 / 9, 12.0 / 17);
  expect_score(scores.rouge_2, 2.0 / 7, 2.0 / 8, 4.0 / 15);
  expect_score(scores.rouge_l, 5.0 / 8, 5.0 / 9, 10.0 / 17);
  expect_score(scores.rouge_lsum, 5.0 / 8, 5.0 / 9, 10.0 / 17);
}

TEST(Rouge, CountsAWordAsOftenAsBothHaveIt) {
  expect_score(rouge("the the the", "the cat the").rouge_1, 2.0 / 3, 2.0 / 3, 2.0 / 3);
  expect_score(rouge("a b a b", "a b").rouge_2, 1.0 / 3, 1, 0.5);
}

// Section 3.2 of the paper: the reference has w1 w2 in common with the first line and w1 w3 w5 with
// the second, 4 words of its 5 and of their 10.
TEST(Rouge, UnitesTheLinesOfASummary) {
  const RougeScores scores = rouge("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5");
  expect_score(scores.rouge_lsum, 0.4, 0.8, 8.0 / 15);
  // In one line, w1 w2 w3 w5.
  expect_score(scores.rouge_l, 0.4, 0.8, 8.0 / 15);
}

TEST(Rouge, TakesTheLinesOfASummaryInAnyOrder) {
  const RougeScores scores = rouge("d e f\na b c", "a b c\nd e f");
  expect_score(scores.rouge_lsum, 1, 1, 1);
  expect_score(scores.rouge_l, 0.5, 0.5, 0.5);
  // The a of the hypothesis is matched once, though it is in both lines of the reference.
  expect_score(rouge("a b", "a x\na y").rouge_lsum, 0.5, 0.25, 1.0 / 3);
  expect_score(rouge("a\n\n!\nb\n", "\na b").rouge_lsum, 1, 1, 1);
}

// "c a" and "a c" have two common subsequences of one word. The package finds the a: from the end,
// it leaves out words of the reference first. "a b" adds nothing to it, "c b" adds the c.
TEST(Rouge, TakesTheSameOneOfTwoLongestSubsequencesAsRougeScore) {
  expect_score(rouge("c a\na b", "a c").rouge_lsum, 0.25, 0.5, 1.0 / 3);
  expect_score(rouge("c a\nc b", "a c").rouge_lsum, 0.5, 1, 2.0 / 3);
}

TEST(Rouge, KeepsLettersAndDigitsInLowerCaseOnly) {
  expect_score(rouge("Don't STOP: 2nd-rate!", "don t stop 2nd rate").rouge_2, 1, 1, 1);
  expect_score(rouge("one\n Two \nthree", "one two three").rouge_l, 1, 1, 1);
  // Letters beyond a-z separate words; the Kelvin sign and the dotted I have an ASCII lower case.
  expect_score(rouge("na\u00efve caf\u00e9", "na ve caf").rouge_l, 1, 1, 1);
  expect_score(rouge("\u212aelvin", "kelvin").rouge_1, 1, 1, 1);
  expect_score(rouge("\u0130zmir", "i zmir").rouge_1, 1, 1, 1);
  expect_score(rouge("b\xff"
                     "c",
                     "b c")
                   .rouge_1,
               1, 1, 1);
}

TEST(Rouge, IsZeroWithoutWords) {
  for (const auto& [hypothesis, reference] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"", "one"}, {"one", ""}, {"/", "one two"}, {"\n", "\n"}, {"猫", "猫"}}) {
    const RougeScores scores = rouge(hypothesis, reference);
    for (const auto& score : {scores.rouge_1, scores.rouge_2, scores.rouge_l, scores.rouge_lsum}) {
      expect_score(score, 0, 0, 0);
    }
  }
}

TEST(Rouge, StemsWordsOfFourLettersAndMore) {
  const std::string hypothesis = "he was testing his cat", reference = "he tests his cats";
  expect_score(rouge(hypothesis, reference).rouge_1, 0.4, 0.5, 4.0 / 9);
  expect_score(rouge(hypothesis, reference, {.stem = true}).rouge_1, 0.8, 1, 8.0 / 9);
  expect_score(rouge("dies", "die", {.stem = true}).rouge_1, 1, 1, 1);
  expect_score(rouge("was", "wa", {.stem = true}).rouge_1, 0, 0, 0);
}

// Each score by a reference of its own: more words of the first, more pairs of the second.
TEST(Rouge, TakesTheBestOfSeveralReferences) {
  const Lines references = {"c b a", "a b x y", "z"};
  const RougeScores scores = rouge("a b c", references);
  expect_score(scores.rouge_1, 1, 1, 1);
  expect_score(scores.rouge_2, 0.5, 1.0 / 3, 0.4);
  expect_score(scores.rouge_l, 2.0 / 3, 0.5, 4.0 / 7);
  // The best F1, though the other has the better recall; of equal ones the first.
  expect_score(rouge("a b c d", Lines{"a", "a b c x y"}).rouge_1, 0.75, 0.6, 2.0 / 3);
  expect_score(rouge("a b c", Lines{"a b c x y z", "a b x"}).rouge_1, 1, 0.5, 2.0 / 3);
  EXPECT_THROW(rouge("a b c", Lines{}), Error);
}

TEST(Rouge, OfACorpusIsTheMean) {
  const Lines hypotheses = {"a b", "c", "d"};
  const RougeScores scores = corpus_rouge(hypotheses, Lines{"a b", "c e", "f"});
  expect_score(scores.rouge_1, 2.0 / 3, 0.5, (1 + 2.0 / 3) / 3);
  expect_score(scores.rouge_2, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  const std::vector<Lines> several = {{"a b"}, {"c e", "c"}, {"f", "g", "h"}};
  expect_score(corpus_rouge(hypotheses, several).rouge_1, 2.0 / 3, 2.0 / 3, 2.0 / 3);
  expect_score(corpus_rouge(Lines{}, Lines{}).rouge_1, 0, 0, 0);
}

TEST(Rouge, HasASignature) {
  EXPECT_EQ(rouge_signature({}), "nrefs:1|stem:no|agg:mean|version:0.1.2-heed");
  EXPECT_EQ(rouge_signature({.stem = true}), "nrefs:1|stem:porter|agg:mean|version:0.1.2-heed");
}

TEST(Rouge, RefusesDifferentCounts) {
  EXPECT_THROW(corpus_rouge(Lines{"a", "b"}, Lines{"a"}), Error);
  EXPECT_THROW(corpus_rouge(Lines{"a"}, std::vector<Lines>{}), Error);
  EXPECT_THROW(corpus_rouge(Lines{"a"}, std::vector<Lines>{{}}), Error);
}

}  // namespace
}  // namespace heed::metrics
