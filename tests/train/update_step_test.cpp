#include "heed/train/update_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/elementwise.h"
#include "heed/train/batch_task.h"

namespace heed::train {
namespace {

struct Point {
  float x = 1;
};
BatchSize batch_size(const Point&) { return {1, 0}; }

// One number that moves towards the points.
struct Follower {
  Tensor place = Tensor::zeros({1});

  Follower() { place.require_gradient(); }
  void visit_parameters(nn::ParameterVisitor& visitor) { visitor.parameter("place", place); }
  Tensor loss(const Point& point, nn::ForwardContext&) const {
    const Tensor difference = ops::add(place, Tensor::full({1}, -point.x));
    return ops::sum(ops::multiply(difference, difference));
  }
};

class UpdateStepTest : public testing::Test {
 protected:
  // The next update of a run over these points.
  UpdateReport update(std::vector<Point> points) {
    BatchTask task(follower, std::move(points));
    const TrainedParameters parameters(task, options);
    Optimizer optimizer = make_optimizer(parameters, options);
    return UpdateStep(task, parameters, options, optimizer).run(state, [](Index) { return 0.5; });
  }

  Follower follower;
  TrainingOptions options;
  TrainingState state;
};

TEST_F(UpdateStepTest, ReportsTheMeanLossPerTargetAndTakesTheStepOfItsRate) {
  options.accumulate = 2;
  const UpdateReport report = update({{1}, {3}, {5}});
  EXPECT_TRUE(report.is_applied);
  EXPECT_EQ(report.update, 1);
  EXPECT_EQ(report.target_tokens, 2);
  EXPECT_DOUBLE_EQ(report.loss, (1.0 + 9.0) / 2);
  EXPECT_NEAR(report.gradient_norm, (2.0 + 6.0) / 2, 1e-6);
  EXPECT_EQ(report.learning_rate, 0.5);
  EXPECT_NEAR(follower.place.values()[0], 0.5, 1e-6);  // Adam's first step is as long as the rate
  EXPECT_EQ(state.batch, 2);
}

TEST_F(UpdateStepTest, TheLastUpdateOfAnEpochTakesTheBatchesThatAreLeft) {
  options.accumulate = 2;
  state.batch = 2;
  EXPECT_EQ(update({{1}, {3}, {5}}).target_tokens, 1);
  EXPECT_EQ(state.epoch, 1);
  EXPECT_EQ(state.batch, 0);
  EXPECT_EQ(state.update, 1);
}

TEST_F(UpdateStepTest, SkipsAnUpdateWhoseLossIsNotFiniteAndSaysWhere) {
  const UpdateReport report = update({{1e30f}});
  EXPECT_FALSE(report.is_applied);
  EXPECT_TRUE(std::isnan(report.gradient_norm));
  EXPECT_EQ(follower.place.values()[0], 0);
  EXPECT_TRUE(report.problem.starts_with("loss inf")) << report.problem;
  EXPECT_TRUE(report.problem.ends_with("batch 1 of epoch 1")) << report.problem;
}

}  // namespace
}  // namespace heed::train
