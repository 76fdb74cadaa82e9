#include "heed/infer/stop_text.h"

#include <gtest/gtest.h>

namespace heed::infer {
namespace {

TEST(StopText, EndsBeforeTheFirstWordThatComes) {
  StopText stop({"END", "\n\n"});
  EXPECT_EQ(stop.add("a line\n"), "a line");
  EXPECT_EQ(stop.add("\nmore END"), "");
  EXPECT_TRUE(stop.is_stopped());
  EXPECT_EQ(stop.add("behind it"), "");
  EXPECT_EQ(stop.finish(), "");
}

TEST(StopText, HoldsBackWhatMayBeTheBeginningOfAWordAndNoMore) {
  StopText stop({"abac"});
  EXPECT_EQ(stop.add("xab"), "x");
  EXPECT_EQ(stop.add("a"), "");
  EXPECT_EQ(stop.add("b"), "ab");  // "abab": only its last two can still become "abac"
  EXPECT_FALSE(stop.is_stopped());
  EXPECT_EQ(stop.add("ac"), "");
  EXPECT_TRUE(stop.is_stopped());
}

TEST(StopText, GivesBackWhatItHeldWhenNothingMoreComes) {
  StopText stop({"xyz"});
  EXPECT_EQ(stop.add("wxy"), "w");
  EXPECT_EQ(stop.finish(), "xy");
}

TEST(StopText, WithoutWordsNothingStops) {
  StopText stop({""});
  EXPECT_EQ(stop.add("text"), "text");
  EXPECT_FALSE(stop.is_stopped());
}

}  // namespace
}  // namespace heed::infer
