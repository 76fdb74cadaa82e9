#include "heed/train/run_plan.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

ScheduleOptions linear(Index warm_up, double max_share) {
  return {.kind = ScheduleKind::linear,
          .peak = 0.005,
          .warm_up = warm_up,
          .max_warm_up_share = max_share};
}

TEST(RunPlan, OfARunByTheClockFollowsFromThePaceOfItsFirstUpdates) {
  const Schedule schedule(linear(1500, 0.1));
  const RunPlan plan = plan_run(minutes(12), schedule, {.updates = 10, .seconds = 20},
                                {.seconds_per_update = 1.0, .updates_per_epoch = 55});
  EXPECT_EQ(plan.updates, 710);
  EXPECT_DOUBLE_EQ(plan.seconds, 720);
  EXPECT_NEAR(plan.epochs, 12.9, 0.01);
  EXPECT_NEAR(plan.peak_rate, 0.005, 1e-4);
  EXPECT_EQ(plan.peak_update, 71);
  EXPECT_EQ(warning_about(plan, schedule, 0.005), "");
}

TEST(RunPlan, OfARunByUpdatesOrEpochsSaysHowLongItTakes) {
  const Schedule schedule(linear(100, 1), 1000);
  const Progress done{.updates = 100, .seconds = 50};
  const Pace pace{.seconds_per_update = 0.5, .updates_per_epoch = 100};
  for (const RunLength& after : {updates(1000), epochs(10)}) {
    const RunPlan plan = plan_run(after, schedule, done, pace);
    EXPECT_EQ(plan.updates, 1000);
    EXPECT_DOUBLE_EQ(plan.seconds, 500);
    EXPECT_DOUBLE_EQ(plan.epochs, 10);
    EXPECT_EQ(plan.peak_update, 100);
  }
  RunLength first = updates(1000);
  first.minutes = 5;
  EXPECT_EQ(plan_run(first, schedule, done, pace).updates, 600);
}

TEST(RunPlan, WarnsOfALearningRateThatNeverReachesItsPeak) {
  const Schedule schedule(linear(1500, 1));
  const RunPlan plan = plan_run(minutes(12), schedule, {.updates = 10, .seconds = 10},
                                {.seconds_per_update = 1.16, .updates_per_epoch = 55});
  EXPECT_LT(plan.peak_rate, 0.0016);
  EXPECT_NE(warning_about(plan, schedule, 0.005).find("reaches 0.0015 of 0.005"), std::string::npos)
      << warning_about(plan, schedule, 0.005);
}

}  // namespace
}  // namespace heed::train
