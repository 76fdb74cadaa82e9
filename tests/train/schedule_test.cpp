#include "heed/train/schedule.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

Schedule schedule(ScheduleKind kind, Index warm_up, Index total = 0) {
  return Schedule({.kind = kind, .peak = 0.01, .warm_up = warm_up}, total);
}

TEST(Schedule, WarmUpRisesInAStraightLine) {
  for (const auto kind : {ScheduleKind::inverse_square_root, ScheduleKind::cosine,
                          ScheduleKind::linear, ScheduleKind::constant}) {
    const auto rates = schedule(kind, 100, 1000);
    EXPECT_DOUBLE_EQ(rates.rate(1), 0.0001);
    EXPECT_DOUBLE_EQ(rates.rate(50), 0.005);
    EXPECT_DOUBLE_EQ(rates.rate(100), 0.01);
  }
}

TEST(Schedule, InverseSquareRootHalvesWithFourTimesTheUpdates) {
  const auto rates = schedule(ScheduleKind::inverse_square_root, 100);
  EXPECT_DOUBLE_EQ(rates.rate(400), 0.005);
  EXPECT_DOUBLE_EQ(rates.rate(10000), 0.001);
}

TEST(Schedule, CosineAndLinearReachZeroJustAfterTheLastUpdate) {
  const auto cosine = schedule(ScheduleKind::cosine, 100, 299);
  EXPECT_NEAR(cosine.rate(200), 0.005, 1e-12);  // halfway
  EXPECT_NEAR(cosine.rate(150), 0.01 * 0.8535533905932737, 1e-12);
  EXPECT_GT(cosine.rate(299), 0);
  EXPECT_NEAR(cosine.rate(300), 0, 1e-12);
  const auto linear = schedule(ScheduleKind::linear, 100, 299);
  EXPECT_NEAR(linear.rate(150), 0.0075, 1e-12);
  EXPECT_NEAR(linear.rate(299), 0.00005, 1e-12);
  EXPECT_NEAR(linear.rate(1000), 0, 1e-12);
}

TEST(Schedule, ConstantStays) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::constant, 0).rate(1), 0.01);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::constant, 10).rate(100000), 0.01);
}

TEST(Schedule, WithoutWarmUpBeginsAtThePeak) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::inverse_square_root, 0).rate(1), 0.01);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::inverse_square_root, 0).rate(4), 0.005);
}

TEST(Schedule, ByTheClockCosineAndLinearReachZeroWhenTheTimeIsOver) {
  const auto linear = schedule(ScheduleKind::linear, 10);
  EXPECT_DOUBLE_EQ(linear.rate(11, 0.0), 0.01);
  EXPECT_DOUBLE_EQ(linear.rate(11, 0.25), 0.0075);
  EXPECT_DOUBLE_EQ(linear.rate(100000, 0.75), 0.0025);
  EXPECT_DOUBLE_EQ(linear.rate(12, 1.0), 0);
  EXPECT_DOUBLE_EQ(linear.rate(12, 1.5), 0);
  const auto cosine = schedule(ScheduleKind::cosine, 10);
  EXPECT_NEAR(cosine.rate(11, 0.25), 0.01 * 0.8535533905932737, 1e-12);
  EXPECT_NEAR(cosine.rate(11, 0.5), 0.005, 1e-12);
  EXPECT_NEAR(cosine.rate(11, 1.0), 0, 1e-12);
}

TEST(Schedule, ByTheClockTheWarmUpEndsWhereItMeetsTheFall) {
  const auto linear = schedule(ScheduleKind::linear, 100);
  EXPECT_DOUBLE_EQ(linear.rate(50, 0.1), 0.005);
  EXPECT_DOUBLE_EQ(linear.rate(80, 0.2), 0.008);
  EXPECT_DOUBLE_EQ(linear.rate(90, 0.225), 0.00775);
  EXPECT_DOUBLE_EQ(linear.rate(101, 0.225), 0.00775);
}

Schedule limited(ScheduleKind kind, Index warm_up, Index total = 0) {
  return Schedule({.kind = kind, .peak = 0.01, .warm_up = warm_up, .max_warm_up_share = 0.1},
                  total);
}

TEST(Schedule, AShortRunHasAShortWarmUp) {
  const auto linear = limited(ScheduleKind::linear, 1500, 620);
  EXPECT_EQ(linear.warm_up(), 62);
  EXPECT_DOUBLE_EQ(linear.rate(31), 0.005);
  EXPECT_DOUBLE_EQ(linear.rate(62), 0.01);
  EXPECT_NEAR(linear.rate(621), 0, 1e-12);
  EXPECT_EQ(limited(ScheduleKind::linear, 50, 620).warm_up(), 50);
  EXPECT_DOUBLE_EQ(limited(ScheduleKind::constant, 100, 5).rate(1), 0.01);  // too short for any
}

TEST(Schedule, ByTheClockALimitedWarmUpEndsWithItsShareOfTheTime) {
  const auto linear = limited(ScheduleKind::linear, 1500);
  EXPECT_DOUBLE_EQ(linear.rate(15, 0.05), 0.005);
  EXPECT_DOUBLE_EQ(linear.rate(30, 0.1), 0.01);
  EXPECT_DOUBLE_EQ(linear.rate(160, 0.55), 0.005);
  EXPECT_DOUBLE_EQ(linear.rate(300, 1.0), 0);
  const auto root = limited(ScheduleKind::inverse_square_root, 1500);
  EXPECT_DOUBLE_EQ(root.rate(30, 0.1), 0.01);
  EXPECT_DOUBLE_EQ(root.rate(120, 0.4), 0.005);
}

TEST(Schedule, ByTheClockAWarmUpThatEndsEarlierStaysAtThePeak) {
  const auto linear = limited(ScheduleKind::linear, 10);
  EXPECT_DOUBLE_EQ(linear.rate(10, 0.01), 0.01);
  EXPECT_DOUBLE_EQ(linear.rate(90, 0.09), 0.01);
  EXPECT_DOUBLE_EQ(linear.rate(550, 0.55), 0.005);
}

TEST(Schedule, TheClockDoesNotMatterToRatesWithoutAnEnd) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::constant, 0).rate(5, 0.9), 0.01);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::inverse_square_root, 100).rate(400, 0.9), 0.005);
}

TEST(Schedule, FollowsUpdatesOrTimeWhicheverIsFurther) {
  const auto linear = schedule(ScheduleKind::linear, 100, 299);
  EXPECT_EQ(linear.rate(150, 0.1), linear.rate(150));
  EXPECT_DOUBLE_EQ(linear.rate(150, 0.5), 0.005);
  EXPECT_DOUBLE_EQ(linear.rate(1000, 0.5), 0);
}

}  // namespace
}  // namespace heed::train
