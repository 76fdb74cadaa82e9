#include "heed/metrics/multi_label.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Sets = std::vector<LabelSet>;

// Label 0: 1 of 1 given and of 2 right. Label 1: 2 of 3 and of 2. Label 2: 0 of 1 and of 0. Label 3
// does not occur.
LabelCounts counts() {
  const Sets right{{0, 1}, {1}, {}, {0}}, given{{0, 1}, {1, 2}, {}, {1}};
  return LabelCounts(right, given, 4);
}

TEST(LabelCounts, GivePrecisionAndRecallOfEachLabel) {
  EXPECT_EQ(counts().num_right(0), 2);
  EXPECT_DOUBLE_EQ(counts().scores(0).precision, 1);
  EXPECT_DOUBLE_EQ(counts().scores(0).recall, 0.5);
  EXPECT_DOUBLE_EQ(counts().scores(1).precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(counts().scores(1).recall, 1);
  EXPECT_EQ(counts().scores(2).f1, 0);
}

// 3 matched of 5 given and of 4 right; F1 of the labels 2/3, 4/5 and 0.
TEST(LabelCounts, GiveTheScoresOfAllLabels) {
  EXPECT_DOUBLE_EQ(counts().micro().precision, 0.6);
  EXPECT_DOUBLE_EQ(counts().micro().recall, 0.75);
  EXPECT_DOUBLE_EQ(counts().micro().f1, 2 * 0.6 * 0.75 / 1.35);
  EXPECT_DOUBLE_EQ(macro_f1(counts()), (2.0 / 3 + 0.8) / 3);
  EXPECT_DOUBLE_EQ(subset_accuracy(counts()), 0.5);
}

TEST(LabelCounts, OfNothingGiveZero) {
  const LabelCounts none({}, {}, 3);
  EXPECT_EQ(none.micro().f1, 0);
  EXPECT_EQ(macro_f1(none), 0);
  EXPECT_EQ(subset_accuracy(none), 0);
}

TEST(LabelCounts, RefuseSetsOutOfOrderOtherLabelsAndDifferentCounts) {
  const Sets one{{0}}, two{{0}, {1}};
  EXPECT_THROW(LabelCounts(one, two, 2), Error);
  for (const Sets& bad : {Sets{{1, 0}}, Sets{{1, 1}}, Sets{{2}}, Sets{{-1}}}) {
    EXPECT_THROW(LabelCounts(one, bad, 2), Error);
  }
}

}  // namespace
}  // namespace heed::metrics
