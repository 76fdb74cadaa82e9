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
