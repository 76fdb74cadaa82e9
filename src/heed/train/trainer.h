// The training loop: updates, validations and checkpoints, in an order that depends on the state
// alone. So a run that resumes from a checkpoint does what an uninterrupted run does.
#pragma once

#include <chrono>
#include <optional>

#include "heed/train/checkpoint.h"
#include "heed/train/metrics_log.h"
#include "heed/train/snapshots.h"
#include "heed/train/task.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/training_folder.h"
#include "heed/train/training_observer.h"
#include "heed/train/weights.h"

namespace heed::train {

class Trainer {
 public:
  // The folder exists; the task, its trained parameters and the observer outlive the trainer. With
  // a checkpoint the run is resumed; without (null) it is started, and saves its first one.
  Trainer(Task& task, const TrainedParameters& parameters, const TrainingFolder& folder,
          RunDescription run, const Checkpoint* checkpoint, TrainingObserver& observer);

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

  // One update: gradients of `accumulate` batches, the optimizer's step, and the report.
  void run_update();
  void accumulate_gradients(UpdateReport& report);
  void apply_gradients(UpdateReport& report);
  void report_update(UpdateReport report);
  void check_divergence(bool is_applied);

  bool prepare_epoch();             // false: interrupted
  bool save_and_validate_if_due();  // false: interrupted
  bool finish();                    // false: interrupted
  void save();

  // Each returns nothing or false when it is interrupted.
  bool validate_and_export();
  bool measure_loss(ValidationReport& report, std::optional<BorrowedWeights>& average);
  std::optional<double> validation_loss();
  bool add_scores(ValidationReport& report);
  void save_model();
  std::optional<Weights> averaged_weights() const;

  Task& task_;
  const TrainedParameters& parameters_;
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
