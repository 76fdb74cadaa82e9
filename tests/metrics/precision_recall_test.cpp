#include "heed/metrics/precision_recall.h"

#include <gtest/gtest.h>

namespace heed::metrics {
namespace {

TEST(PrecisionRecall, IsTheShareOfWhatWasFoundAndOfWhatIsRight) {
  const PrecisionRecall scores = precision_recall(2, 4, 3);
  EXPECT_DOUBLE_EQ(scores.precision, 0.5);
  EXPECT_DOUBLE_EQ(scores.recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.f1, 4.0 / 7);
}

TEST(PrecisionRecall, IsZeroWithoutAnythingToCount) {
  for (const auto& scores : {precision_recall(0, 0, 0), precision_recall(0, 3, 0),
                             precision_recall(0, 0, 3), precision_recall(0, 2, 3)}) {
    EXPECT_EQ(scores.precision, 0);
    EXPECT_EQ(scores.recall, 0);
    EXPECT_EQ(scores.f1, 0);
  }
}

}  // namespace
}  // namespace heed::metrics
