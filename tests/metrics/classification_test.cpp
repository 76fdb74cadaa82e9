#include "heed/metrics/classification.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

// Rows are right:   0  1  2
//               0 [ 2  1  0 ]
//               1 [ 1  3  0 ]
//               2 [ 0  2  1 ]
ConfusionTable table() {
  const std::vector<int> right{0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
  const std::vector<int> given{0, 0, 1, 1, 1, 0, 1, 1, 1, 2};
  return {right, given, 3};
}

TEST(ConfusionTable, CountsWhatWasGivenForWhat) {
  EXPECT_EQ(table().count(0, 1), 1);
  EXPECT_EQ(table().count(2, 1), 2);
  EXPECT_EQ(table().count(1, 2), 0);
  EXPECT_EQ(table().num_right(1), 4);
  EXPECT_EQ(table().num_given(1), 6);
  EXPECT_EQ(table().num_lines(), 10);
  EXPECT_EQ(table().num_correct(), 6);
}

TEST(Accuracy, IsTheShareOfCorrectLines) {
  EXPECT_DOUBLE_EQ(accuracy(table()), 0.6);
  EXPECT_EQ(accuracy(ConfusionTable({}, {}, 3)), 0);
}

// By hand: precision 2/3, 3/6, 1/1; recall 2/3, 3/4, 1/3; F1 2/3, 3/5, 1/2.
TEST(ClassScores, ArePrecisionRecallAndTheirHarmonicMean) {
  EXPECT_DOUBLE_EQ(class_scores(table(), 0).precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(class_scores(table(), 1).precision, 0.5);
  EXPECT_DOUBLE_EQ(class_scores(table(), 2).precision, 1);
  EXPECT_DOUBLE_EQ(class_scores(table(), 0).recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(class_scores(table(), 1).recall, 0.75);
  EXPECT_DOUBLE_EQ(class_scores(table(), 2).recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(class_scores(table(), 0).f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(class_scores(table(), 1).f1, 0.6);
  EXPECT_DOUBLE_EQ(class_scores(table(), 2).f1, 0.5);
}

TEST(MacroF1, IsTheMeanOverTheClasses) {
  EXPECT_DOUBLE_EQ(macro_f1(table()), (2.0 / 3 + 0.6 + 0.5) / 3);
}

TEST(MacroF1, LeavesOutAClassThatNeverOccursAndCountsOneThatIsOnlyGivenAsZero) {
  const std::vector<int> right{0, 0}, given{0, 1};
  // Class 0: precision 1, recall 1/2, F1 2/3. Class 1: given once, never right.
  EXPECT_DOUBLE_EQ(macro_f1(ConfusionTable(right, given, 3)), 1.0 / 3);
  EXPECT_EQ(class_scores(ConfusionTable(right, given, 3), 2).f1, 0);
}

TEST(ConfusionTable, RefusesOtherClassesAndDifferentCounts) {
  const std::vector<int> one{0}, two{0, 1}, high{3}, low{-1};
  EXPECT_THROW(ConfusionTable(one, two, 3), Error);
  EXPECT_THROW(ConfusionTable(one, high, 3), Error);
  EXPECT_THROW(ConfusionTable(low, one, 3), Error);
}

}  // namespace
}  // namespace heed::metrics
