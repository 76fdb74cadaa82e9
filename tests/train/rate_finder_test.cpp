#include "heed/train/rate_finder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/elementwise.h"
#include "heed/train/batch_task.h"
#include "heed/train/task_setup.h"
#include "train/toy_classes.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

struct Point {
  float x = 1;
};
BatchSize batch_size(const Point&) { return {1, 0}; }

// Moves towards the points; large steps go past them.
struct Walker {
  Tensor place = Tensor::zeros({1});

  Walker() { place.require_gradient(); }
  void visit_parameters(nn::ParameterVisitor& visitor) { visitor.parameter("place", place); }
  Tensor loss(const Point& point, nn::ForwardContext&) const {
    const Tensor difference = ops::add(place, Tensor::full({1}, -point.x));
    return ops::sum(ops::multiply(difference, difference));
  }
};

RateTest walk(const RateRange& range, TrainingObserver& observer) {
  BatchTask task(Walker(), std::vector<Point>(5));
  return find_rate(task, {}, range, observer);
}

RateTest walk(const RateRange& range) {
  TrainingObserver nobody;
  return walk(range, nobody);
}

RateTest find_rate(const Training& training) {
  TrainingObserver nobody;
  return find_rate(training, nobody);
}

void expect_same_points(const RateTest& a, const RateTest& b) {
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(a.points[i].rate, b.points[i].rate);
    EXPECT_EQ(a.points[i].loss, b.points[i].loss);
    EXPECT_EQ(a.points[i].smoothed, b.points[i].smoothed);
  }
}

TEST(RateFinder, RatesRiseByTheSameFactorFromTheLowestToTheHighest) {
  const RateTest test = walk({.lowest = 1e-5, .highest = 1e-1, .updates = 41});
  ASSERT_EQ(test.points.size(), 41u);
  for (std::size_t i = 0; i < 41; ++i) {
    EXPECT_NEAR(test.points[i].rate * std::pow(10, 5 - static_cast<double>(i) / 10), 1, 1e-12);
  }
  EXPECT_FALSE(test.has_diverged);
}

TEST(RateFinder, SmoothsWithAnAverageThatIsCorrectedForItsStart) {
  const RateTest test = walk({.updates = 60});
  double sum = 0, weights = 0;
  for (const RatePoint& point : test.points) {
    sum = 0.8 * sum + point.loss;
    weights = 0.8 * weights + 1;
    EXPECT_NEAR(point.smoothed, sum / weights, 1e-12);
  }
  EXPECT_EQ(test.points.front().smoothed, test.points.front().loss);
}

TEST(RateFinder, WithOneRateItsLossesAreThoseOfARun) {
  const ToyTraining toy;
  Training training = toy.training("model");
  TrainingOptions& options = training.recipe.training;
  options.schedule = {.kind = ScheduleKind::constant, .peak = 0.02, .warm_up = 0};
  options.optimizer.clip = 1;
  options.accumulate = 2;
  Watcher watcher;
  train_model(training, watcher);

  RunDescription run = describe_run(training);
  const auto task = read_task(training, run, nullptr, watcher);
  prepare_task(*task, run, "");
  TrainingObserver nobody;
  const RateTest test =
      find_rate(*task, options, {.lowest = 0.02, .highest = 0.02, .updates = 16}, nobody);
  ASSERT_EQ(test.points.size(), watcher.updates.size());
  for (std::size_t i = 0; i < test.points.size(); ++i) {
    EXPECT_EQ(test.points[i].loss, watcher.updates[i].loss);
  }
}

TEST(RateFinder, TheSameTestGivesTheSamePointsForAnyNumberOfThreads) {
  const ToyTraining toy;
  const Training training = toy.training("model");
  const RateTest first = find_rate(training);
  const int threads = num_threads();
  set_num_threads(1);
  expect_same_points(find_rate(training), first);
  set_num_threads(threads);
  Training other = training;
  other.recipe.training.seed = 2;
  EXPECT_NE(find_rate(other).points[0].loss, first.points[0].loss);
}

TEST(RateFinder, ThePeakOfTheScheduleChangesNothing) {
  const ToyTraining toy;
  const Training training = toy.training("model");
  Training other = training;
  other.recipe.training.schedule = {.kind = ScheduleKind::constant, .peak = 7, .warm_up = 0};
  expect_same_points(find_rate(other), find_rate(training));
}

TEST(RateFinder, StopsWhereTheLossExceedsFourTimesItsMinimum) {
  const RateTest test = walk({.lowest = 1e-3, .highest = 1e3, .updates = 60});
  EXPECT_TRUE(test.has_diverged);
  ASSERT_LT(test.points.size(), 60u);
  const double minimum = lowest_point(test.points).smoothed;
  EXPECT_GT(test.points.back().smoothed, 4 * minimum);
  EXPECT_LE(test.points[test.points.size() - 2].smoothed, 4 * minimum);
}

TEST(RateFinder, StopsWhereTheLossIsNotFinite) {
  const RateTest test = walk({.lowest = 1e25, .highest = 1e30, .updates = 10});
  EXPECT_TRUE(test.has_diverged);
  ASSERT_EQ(test.points.size(), 1u);
  EXPECT_TRUE(std::isfinite(test.points[0].loss));
}

TEST(RateFinder, StopsAfterTheUpdateInWhichItIsAskedTo) {
  Watcher watcher;
  watcher.stop_after = 3;
  const RateTest test = walk({.updates = 40}, watcher);
  EXPECT_TRUE(test.is_interrupted);
  EXPECT_EQ(watcher.updates.size(), 3u);

  const ToyTraining toy;
  Watcher at_once;
  at_once.stop_after = 0;
  EXPECT_TRUE(find_rate(toy.training("model"), at_once).is_interrupted);
}

TEST(RateFinder, WritesNothing) {
  const ToyTraining toy;
  Watcher watcher;
  EXPECT_FALSE(find_rate(toy.training("model"), watcher).points.empty());
  EXPECT_FALSE(fs::exists(toy.file("model")));
}

// Either may diverge before its last update, so the share that the first one is of all tells.
TEST(RateFinder, LargeUpdatesGetFewerOfThem) {
  const ToyTraining toy;
  Training training = toy.training("model");
  Watcher small, large;
  find_rate(training, small);
  training.recipe.training.accumulate = 1'000'000;
  find_rate(training, large);
  EXPECT_DOUBLE_EQ(small.updates.at(0).share_done, 1.0 / 120);
  EXPECT_DOUBLE_EQ(large.updates.at(0).share_done, 1.0 / 40);
}

TEST(RateFinder, TrainsOfABaseModelWhatIsNotFrozen) {
  const ToyTraining toy;
  const Training base = toy.training("base");
  train_model(base);
  Training tuned = toy.training("tuned");
  tuned.files["from"] = toy.file("base");
  tuned.recipe.training.lora = 2;
  const RateTest test = find_rate(tuned);
  EXPECT_LT(test.points[0].loss, find_rate(base).points[0].loss);
  tuned.files.erase("from");
  EXPECT_THROW(find_rate(tuned), Error);
}

std::vector<RatePoint> curve(std::initializer_list<double> smoothed) {
  std::vector<RatePoint> points;
  for (const double loss : smoothed) {
    points.push_back({std::pow(10.0, static_cast<double>(points.size()) - 5), loss, loss});
  }
  return points;
}

TEST(SuggestRate, IsATenthOfTheRateWithTheLowestLoss) {
  EXPECT_NEAR(suggest_rate(curve({9, 9, 8.5, 6, 5, 20})).value(), 1e-2, 1e-9);
}

TEST(SuggestRate, IsNothingForALossThatDoesNotFall) {
  EXPECT_FALSE(suggest_rate(curve({9, 9.1, 8.95, 12})));
  EXPECT_FALSE(suggest_rate({}));
}

}  // namespace
}  // namespace heed::train
