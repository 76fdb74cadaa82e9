#include "heed/train/run_length.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::train {
namespace {

RunLength parse(std::string_view text) { return parse_run_length(text, "after"); }

TEST(RunLength, KnowsEpochsUpdatesAndMinutes) {
  EXPECT_EQ(parse("30e").epochs, 30);
  EXPECT_EQ(parse("8000u").updates, 8000);
  EXPECT_EQ(parse("45m").minutes, 45);
  EXPECT_EQ(parse("0.5m").minutes, 0.5);
}

TEST(RunLength, ComesBackAsItWasWritten) {
  for (const char* text : {"30e", "8000u", "45m", "2.5m", "30e,8000u,45m"}) {
    EXPECT_EQ(to_string(parse(text)), text);
  }
}

TEST(RunLength, WhatIsReachedFirstCounts) {
  const RunLength length = parse("2e,10m");
  EXPECT_FALSE(is_reached(length, {.epochs = 1, .updates = 1000, .seconds = 599}));
  EXPECT_TRUE(is_reached(length, {.epochs = 2, .updates = 0, .seconds = 0}));
  EXPECT_TRUE(is_reached(length, {.epochs = 0, .updates = 0, .seconds = 600}));
}

TEST(RunLength, RefusesWhatIsNoLength) {
  for (const char* text : {"", "30", "e", "0e", "-1u", "1.5e", "30x", "3e,", ",3e", "1e,2e", "nanm",
                           "infm", "3 e", "99999999999999999999u"}) {
    EXPECT_THROW(parse(text), Error) << text;
  }
}

TEST(RunLength, AnIntervalIsInEpochsOrUpdates) {
  EXPECT_EQ(parse_interval("500u", "save-every").updates, 500);
  EXPECT_THROW(parse_interval("5m", "save-every"), Error);
  EXPECT_THROW(parse_interval("1e,5u", "save-every"), Error);
}

}  // namespace
}  // namespace heed::train
