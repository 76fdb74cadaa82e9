#include "heed/train/rate_finder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "heed/base/cancellation.h"
#include "heed/train/task_setup.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/update_step.h"

namespace heed::train {
namespace {

using Clock = std::chrono::steady_clock;

// Of the smoothed loss over its minimum, as in fastai.
constexpr double divergence = 4;

// The average reaches over about a twelfth of the test: half a power of ten, whatever the number of
// updates is.
class SmoothedLoss {
 public:
  explicit SmoothedLoss(Index updates)
      : decay_(std::max(0.0, 1 - 12 / static_cast<double>(updates))) {}

  double add(double value) {
    sum_ = decay_ * sum_ + (1 - decay_) * value;
    weight_ = decay_ * weight_ + (1 - decay_);
    return sum_ / weight_;
  }

 private:
  double decay_;
  double sum_ = 0, weight_ = 0;
};

// From the lowest rate in the first update to the highest in the last one.
double rate_of(const RateRange& range, Index update) {
  const double share =
      static_cast<double>(update - 1) / static_cast<double>(std::max<Index>(range.updates - 1, 1));
  return range.lowest * std::pow(range.highest / range.lowest, share);
}

// As many as take about two minutes at 100 GFLOP/s, which two cores reach. Forward and backward
// pass are six operations per parameter and token.
Index num_updates(Task& task, const TrainingOptions& options) {
  constexpr double operations = 100e9 * 120;
  constexpr Index fewest = 40;
  double num_parameters = 0;
  for (const nn::NamedTensor& parameter : nn::named_parameters(task)) {
    num_parameters += static_cast<double>(parameter.value.size());
  }
  const double of_one =
      6 * num_parameters * static_cast<double>(options.batch_tokens * options.accumulate);
  const double count = std::min(operations / of_one, static_cast<double>(RateRange().updates));
  return std::max(fewest, static_cast<Index>(count));
}

}  // namespace

RateTest find_rate(Task& task, const TrainingOptions& options, const RateRange& range,
                   TrainingObserver& observer) {
  const TrainedParameters parameters(task, options);
  Optimizer optimizer = make_optimizer(parameters, options);
  UpdateStep step(task, parameters, options, optimizer);
  const auto start = Clock::now();
  SmoothedLoss average(range.updates);
  double minimum = std::numeric_limits<double>::infinity();
  TrainingState state;
  RateTest test;
  while (state.update < range.updates && !test.has_diverged) {
    test.is_interrupted = observer.should_stop();
    if (test.is_interrupted) break;
    UpdateReport report = step.run(state, [&](Index update) { return rate_of(range, update); });
    test.has_diverged = !report.is_applied;
    if (test.has_diverged) break;
    const double smoothed = average.add(report.loss);
    test.points.push_back({report.learning_rate, report.loss, smoothed});
    minimum = std::min(minimum, smoothed);
    test.has_diverged = smoothed > divergence * minimum;
    report.share_done = static_cast<double>(state.update) / static_cast<double>(range.updates);
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    observer.on_update(report);
  }
  return test;
}

RateTest find_rate(const Training& training, TrainingObserver& observer) {
  RunDescription run = describe_run(training);
  const CancellationScope scope([&] { return observer.should_stop(); });
  try {
    const std::unique_ptr<Task> task = read_task(training, run, nullptr, observer);
    prepare_task(*task, run, "");
    check_memory_for_batch(*task, run);
    report_start(*task, run, observer);
    const TrainingOptions& options = run.recipe.training;
    RateRange range;
    range.updates = num_updates(*task, options);
    const RateTest test = find_rate(*task, options, range, observer);
    observer.on_finish(test.is_interrupted ? RunEnd::interrupted : RunEnd::finished);
    return test;
  } catch (const Cancelled&) {
    return {.points = {}, .has_diverged = false, .is_interrupted = true};
  }
}

const RatePoint& lowest_point(std::span<const RatePoint> points) {
  return *std::ranges::min_element(points, {}, &RatePoint::smoothed);
}

std::optional<double> suggest_rate(std::span<const RatePoint> points) {
  constexpr double least_fall = 0.01;
  if (points.empty()) return std::nullopt;
  const RatePoint& lowest = lowest_point(points);
  if (lowest.smoothed > (1 - least_fall) * points.front().smoothed) return std::nullopt;
  return lowest.rate / 10;
}

}  // namespace heed::train
