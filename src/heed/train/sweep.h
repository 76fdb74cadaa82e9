// A sweep: one run for every combination of some values of settings (grid search), each in a folder
// of its own, and the comparison of their results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/train/metrics_log.h"
#include "heed/train/training.h"

namespace heed::train {

// The values that a setting has in the runs of a sweep.
struct SweepAxis {
  std::string setting;  // or one of its other names
  std::vector<std::string> values;
};

struct SweepRun {
  std::vector<std::pair<std::string, std::string>> settings;  // in the order of the axes
  Training training;
};

// The runs of a sweep in the folder of `training`, the last axis changing fastest. The folder of a
// run is named after its settings: learning-rate=0.001,dropout=0.1. Refuses (ErrorKind::usage) what
// cannot be compared or trained: settings that are unknown, given twice, or decide only how a run
// is measured or saved; values that are bad or equal; more than 100 runs; files without validation
// data, and standard input, which can be read only once; vocabularies compared by the loss per
// token; a folder that holds a run or a model itself.
std::vector<SweepRun> plan_sweep(const Training& training, std::span<const SweepAxis> axes);

// The measure that runs with this recipe are compared by: that of early stopping, otherwise the
// validation loss.
std::string sweep_measure(const Recipe& recipe);

struct SweepResult {
  LoggedRun log;
  std::string weights_hash = {};
  std::string problem = {};  // of a run that diverged; empty for the others
};

struct SweepOutcome {
  std::vector<SweepResult> results;      // in the order of the runs, as far as they were made
  std::optional<std::size_t> best = {};  // of those that did not diverge
  // The run during which the sweep was interrupted, otherwise nothing.
  std::optional<TrainingResult> interrupted = {};
  // Settings beside the axes in which the runs differ: a recipe that is chosen for data and time
  // may not be the same when a sweep is resumed, and its sizes are fitted to what is given.
  std::vector<std::string> also_different = {};
};

// An observer for the run with this number.
using ObserverOf = std::function<std::unique_ptr<TrainingObserver>(std::size_t number)>;

// Makes the runs, one after another. Those that are finished stay as they are, and those that are
// not are resumed. A run that diverges does not end the sweep; other errors do.
SweepOutcome run_sweep(std::span<const SweepRun> runs, const ObserverOf& observer_of);

}  // namespace heed::train
