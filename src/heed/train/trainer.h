// The training loop: updates, validations and checkpoints, in an order that only depends on the
// state. So a run that goes on from a checkpoint does what the uninterrupted run would have done.
#pragma once

#include <chrono>
#include <optional>

#include "heed/train/checkpoint.h"
#include "heed/train/metrics_log.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_folder.h"
#include "heed/train/training_observer.h"
#include "heed/train/training_task.h"
#include "heed/train/weights.h"

namespace heed::train {

class Trainer {
 public:
  // The folder exists, and the task outlives the trainer. Without a checkpoint the run begins, and
  // saves its first one.
  Trainer(TrainingTask& task, const TrainingFolder& folder, RunDescription run,
          const Checkpoint* checkpoint, TrainingObserver& observer);

  // Trains until the recipe says stop, or the observer does. In the end the model folder holds the
  // model: averaged if that is better on the validation data, the best one with early stopping.
  // Throws Error(diverged) when the loss stays infinite.
  RunEnd run();

  const TrainingState& state() const { return run_.state; }

 private:
  bool is_due(const RunLength& interval) const;
  bool is_at_end() const;
  double seconds() const;
  double share_of_time() const;  // 0 when the run has no limit in minutes
  double share_done();

  void run_update();
  void count_skipped_update(bool is_applied);
  bool keep_up();  // snapshot, validation, checkpoint that are due; false: interrupted
  bool finish();
  void save();

  bool validate_and_export();
  std::optional<Weights> averaged_weights() const;
  bool measure(ValidationReport& report, std::optional<BorrowedWeights>& borrowed) const;

  TrainingTask& task_;
  TrainingFolder folder_;
  RunDescription run_;
  const TrainingOptions& options_;
  TrainingObserver& observer_;
  Optimizer optimizer_;
  Schedule schedule_;
  EarlyStopping stopping_;
  std::optional<MovingAverage> ema_;
  Snapshots snapshots_;
  MetricsLog log_;
  Index saved_update_ = -1;
  double seconds_before_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace heed::train
