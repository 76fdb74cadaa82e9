#include "heed/train/run_length.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::train {
namespace {

RunLength parse(std::string_view text) { return parse_run_length(text, "after"); }

TEST(RunLength, KnowsEpochsUpdatesAndTime) {
  EXPECT_EQ(parse("30e").epochs, 30);
  EXPECT_EQ(parse("8000u").updates, 8000);
  EXPECT_EQ(parse("45m").minutes, 45);
  EXPECT_EQ(parse("0.5m").minutes, 0.5);
  EXPECT_EQ(parse("45s").minutes, 0.75);
  EXPECT_EQ(parse("2h").minutes, 120);
  EXPECT_EQ(parse("1.5h,3e"), parse("3e,90m"));
}

TEST(RunLength, SecondsAndHoursComeBackAsTheSameMinutes) {
  EXPECT_EQ(to_string(parse("45s")), "0.75m");
  EXPECT_EQ(to_string(parse("2h,10u")), "10u,120m");
  for (const char* text : {"1s", "7s", "50s", "59s", "0.1s", "0.7h", "1e-300s", "1e300h"}) {
    EXPECT_EQ(parse(to_string(parse(text))), parse(text)) << text;
  }
}

TEST(RunLength, TheMistakeNamesAllUnits) {
  try {
    parse("30x");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "after: expected a length like 30e (epochs), 8000u (updates), 45s (seconds), 45m "
                 "(minutes) or 2h (hours), found 30x");
  }
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
  for (const char* text :
       {"",       "30",    "e",     "0e",   "-1u",    "1.5e",    "30x",
        "3e,",    ",3e",   "1e,2e", "nanm", "infm",   "3 e",     "99999999999999999999u",
        "0s",     "-2h",   "s",     "h",    "1e308h", "1e-323s", "45s,1m",
        "1h,30m", "1s,1s", "2H"}) {
    EXPECT_THROW(parse(text), Error) << text;
  }
}

TEST(RunLength, AnIntervalIsInEpochsOrUpdates) {
  EXPECT_EQ(parse_interval("500u", "save-every").updates, 500);
  for (const char* text : {"5m", "5s", "5h"}) {
    EXPECT_THROW(parse_interval(text, "save-every"), Error) << text;
  }
  EXPECT_THROW(parse_interval("1e,5u", "save-every"), Error);
}

}  // namespace
}  // namespace heed::train
