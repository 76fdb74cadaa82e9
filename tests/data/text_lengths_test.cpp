#include "heed/data/text_lengths.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heed::data {
namespace {

TEST(TextLengths, ArePercentilesByNearestRank) {
  std::vector<Index> lengths(200);
  std::iota(lengths.rbegin(), lengths.rend(), 1);  // 200 to 1
  EXPECT_EQ(summarize_lengths(lengths), (TextLengths{100, 190, 198, 200}));
  EXPECT_EQ(summarize_lengths({7}), (TextLengths{7, 7, 7, 7}));
  EXPECT_EQ(summarize_lengths({3, 1, 2}), (TextLengths{2, 3, 3, 3}));
  EXPECT_EQ(summarize_lengths({}), TextLengths{});
}

}  // namespace
}  // namespace heed::data
