#include "heed/metrics/group_accuracy.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

TEST(GroupAccuracy, CountsAllItemsAndThoseOfEachGroup) {
  const std::vector<bool> is_right{true, false, true, true, false};
  const std::vector<std::string> groups{"sie", "er", "sie", "", "sie"};
  const GroupAccuracy total = total_accuracy(is_right);
  EXPECT_EQ(total.num_items, 5);
  EXPECT_EQ(total.num_right, 3);
  EXPECT_EQ(total.accuracy(), 0.6);
  const auto found = accuracy_by_group(is_right, groups);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].group, "sie");
  EXPECT_EQ(found[0].num_items, 3);
  EXPECT_EQ(found[0].num_right, 2);
  EXPECT_EQ(found[1].group, "er");
  EXPECT_EQ(found[1].accuracy(), 0);
}

TEST(GroupAccuracy, IsZeroWithoutItems) {
  EXPECT_EQ(total_accuracy({}).accuracy(), 0);
  EXPECT_TRUE(accuracy_by_group({}, {}).empty());
}

TEST(GroupAccuracy, RefusesDifferentCounts) { EXPECT_THROW(accuracy_by_group({true}, {}), Error); }

}  // namespace
}  // namespace heed::metrics
