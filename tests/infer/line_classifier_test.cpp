#include "heed/infer/line_classifier.h"

#include <gtest/gtest.h>

#include "infer/toy_encoders.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

LineClassifier toy() { return {toy_classifier().model, toy_classifier().tokenizer}; }

TEST(LineClassifier, TellsTheClassOfEachLine) {
  const LineClassifier classifier = toy();
  const auto results = classifier.classify(Lines{"the red", "a blue in", "in green the"});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].front().label, "warm");
  EXPECT_EQ(results[1].front().label, "cold");
  EXPECT_EQ(results[2].front().label, "calm");
  for (const auto& classes : results) {
    ASSERT_EQ(classes.size(), 1u);
    EXPECT_EQ(classifier.labels()[classes.front().of_class], classes.front().label);
  }
  const ClassProbability alone = classifier.classify("a blue in");
  EXPECT_EQ(alone.label, "cold");
  EXPECT_EQ(alone.probability, results[1].front().probability);
}

TEST(LineClassifier, GivesAllProbabilitiesTheMostLikelyFirst) {
  const auto classes = toy().classify(Lines{"the red"}, 10).front();
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_GE(classes[0].probability, classes[1].probability);
  EXPECT_GE(classes[1].probability, classes[2].probability);
  EXPECT_NEAR(classes[0].probability + classes[1].probability + classes[2].probability, 1, 1e-6);
}

TEST(LineClassifier, ALineIsTheSameToTheBitAloneAndInAnyBatch) {
  const LineClassifier classifier = toy();
  const Lines lines{"the red", "a blue in the the", "green", "in a green the"};
  const auto together = classifier.classify(lines, 3);
  const auto small_batches = classifier.classify(lines, 3, {.batch_tokens = 1});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto alone = classifier.classify({&lines[i], 1}, 3).front();
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(together[i][c].probability, alone[c].probability);
      EXPECT_EQ(small_batches[i][c].probability, alone[c].probability);
    }
  }
}

TEST(LineClassifier, ReadsPairsOfTexts) {
  const LineClassifier classifier(toy_pairs().model, toy_pairs().tokenizer);
  EXPECT_TRUE(classifier.may_read_pairs());
  EXPECT_TRUE(classifier.reads_pairs());
  const Lines first{"the red", "a blue", "a red"}, second{"a red", "the blue", "the blue"};
  const auto results = classifier.classify(TextLines{first, second});
  EXPECT_EQ(results[0].front().label, "both");
  EXPECT_EQ(results[1].front().label, "none");
  EXPECT_EQ(results[2].front().label, "one");
  const auto swapped = classifier.classify(TextLines{second, first});
  EXPECT_NE(swapped[2].front().probability, results[2].front().probability);
  expect_error(ErrorKind::data, "line 1: expected two texts, found a blank one", [&] {
    classifier.classify(TextLines{first, Lines{" ", "a", "a"}});
  });
  expect_error(ErrorKind::model,
               "model: expected a classifier of single texts, found one of pairs of texts",
               [&] { classifier.classify(first); });
  expect_error(ErrorKind::model,
               "model: expected a classifier of pairs of texts, found one of single texts", [&] {
                 toy().classify(TextLines{first, second});
               });
}

TEST(LineClassifier, GivesEveryLabelAProbabilityOfItsOwn) {
  const LineClassifier classifier(toy_label_sets().model, toy_label_sets().tokenizer);
  const auto results = classifier.classify(Lines{"the red blue in", "a in", "the red in"}, 2);
  EXPECT_GT(results[0][1].probability, 0.5);
  EXPECT_LT(results[1][0].probability, 0.5);
  EXPECT_EQ(results[2][0].label, "warm");
  EXPECT_GT(results[2][0].probability, 0.5);
  EXPECT_LT(results[2][1].probability, 0.5);
  EXPECT_EQ(classifier.classify(Lines{"a in"}, 1).front().size(), 1u);
}

TEST(LineClassifier, PredictsNumbersInTheUnitOfTheData) {
  const LineClassifier classifier(toy_numbers().model, toy_numbers().tokenizer);
  const Lines lines{"red red red red", "blue blue blue blue", "red blue red blue"};
  const std::vector<double> scores = classifier.scores(TextLines{lines});
  EXPECT_NEAR(scores[0], 1400, 50);
  EXPECT_NEAR(scores[1], 1000, 50);
  EXPECT_NEAR(scores[2], 1200, 50);
  EXPECT_EQ(classifier.scores(TextLines{{&lines[2], 1}}), std::vector<double>{scores[2]});
  expect_error(ErrorKind::model, "model: expected a classifier of labels, found regression",
               [&] { classifier.classify(lines); });
  expect_error(ErrorKind::model,
               "model: expected a classifier of numbers (regression), found "
               "single_label_classification",
               [&] { toy().scores(TextLines{lines}); });
}

TEST(LineClassifier, RefusesABlankLineByItsNumber) {
  expect_error(ErrorKind::data, "line 12: expected text, found a blank line", [] {
    toy().classify(Lines{"the red", "  "}, 1, {.first_line = 11});
  });
}

TEST(LineClassifier, RefusesALineLongerThanLearnedPositions) {
  models::TransformerConfig config = toy_classifier().model.config();
  config.positions = models::Positions::learned;
  config.max_positions = 4;
  config.pooling = models::Pooling::first;
  const LineClassifier classifier(models::Classifier(config, 1), toy_classifier().tokenizer);
  EXPECT_NO_THROW(classifier.classify(Lines{"the red"}));
  expect_error(ErrorKind::data, "line 1: expected a text of at most 2 tokens, found 3",
               [&] { classifier.classify(Lines{"in the red"}); });
}

}  // namespace
}  // namespace heed::infer
