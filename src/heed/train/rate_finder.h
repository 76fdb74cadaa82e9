// The learning-rate range test (Smith 2017): a short run whose learning rate rises exponentially
// shows which rates learn, and from which on training diverges.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heed/train/recipe.h"
#include "heed/train/task.h"
#include "heed/train/training.h"
#include "heed/train/training_observer.h"

namespace heed::train {

struct RateRange {
  double lowest = 1e-6;
  double highest = 1;
  Index updates = 120;
};

struct RatePoint {
  double rate = 0;
  double loss = 0;      // of the update with this rate, before it is applied
  double smoothed = 0;  // an exponential moving average, corrected for its start at 0
};

struct RateTest {
  std::vector<RatePoint> points;  // in the order of their rates; none after the test was stopped
  bool has_diverged = false;      // before the highest rate
  bool is_interrupted = false;
};

// Trains a prepared task with rates from the lowest to the highest, in the order of data and with
// the optimizer, clipping and accumulation of a run with these options. Stops where the smoothed
// loss exceeds four times its minimum, or loss or gradient are not finite. The task's weights are
// lost. Equal arguments give equal points.
RateTest find_rate(Task& task, const TrainingOptions& options, const RateRange& range,
                   TrainingObserver& observer);

// The same for the run that train_model() would start on these files. Writes nothing. A model and
// batches for which all updates would take some minutes get fewer of them: their number depends on
// the sizes alone.
RateTest find_rate(const Training& training, TrainingObserver& observer);

// The point with the lowest smoothed loss.
const RatePoint& lowest_point(std::span<const RatePoint> points);

// A peak for the schedule: a tenth of the rate with the lowest smoothed loss. Nothing when the loss
// did not fall by at least a hundredth.
std::optional<double> suggest_rate(std::span<const RatePoint> points);

}  // namespace heed::train
