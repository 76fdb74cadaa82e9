// The training loop: updates, validations and checkpoints, in an order that depends on the state
// alone. So a run that resumes from a checkpoint does what an uninterrupted run does.
//
// Checkpoints that the clock or an interruption asks for change nothing else. A run that diverges
// goes back to the last one of the others, with half the learning rate.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "heed/train/checkpoint.h"
#include "heed/train/metrics_log.h"
#include "heed/train/snapshots.h"
#include "heed/train/task.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/training_folder.h"
#include "heed/train/training_observer.h"
#include "heed/train/update_step.h"
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
  // Throws Error(diverged) when the loss or the weights do not stay finite and rollbacks do not
  // help, and when they are not finite in the end; the last good checkpoint and model stay.
  RunEnd run();

  const TrainingState& state() const { return run_.state; }

 private:
  // A checkpoint in the folder.
  struct Saved {
    Index update, validated_update, optimizer_steps;
    bool is_return_point;
    std::vector<Index> averaged;  // snapshots
  };

  bool is_due(const RunLength& interval) const;
  bool is_at_end() const;
  double seconds() const;
  double share_of_time() const;  // 0 when the run has no limit in minutes
  double epochs_done();
  double share_done();

  // Throws Error(diverged) where a rollback may help.
  RunEnd run_to_end();
  void roll_back(const std::string& reason);

  void run_update();
  void report_update(UpdateReport report);
  void check_divergence(const UpdateReport& report);
  // When enough updates have been timed.
  void report_plan_if_due();

  bool prepare_epoch();             // false: interrupted
  bool save_and_validate_if_due();  // false: interrupted
  bool finish();                    // false: interrupted
  // A rollback goes back to the last checkpoint that save_every asked for and whose weights an
  // update could be applied to since. Both are functions of the state: the same for every run,
  // however often it is interrupted.
  bool is_return_point() const;
  bool can_return_to_newest() const;
  bool is_newest_kept() const;  // as the previous one, when the next is saved
  bool is_saved() const;
  bool is_save_overdue();
  void save();
  // Tries again while the disk fails.
  void write(const std::function<void()>& action);
  std::string good_checkpoint() const;  // for messages
  void warn_of_other_environment(const Checkpoint& checkpoint);

  // Each returns nothing or false when it is interrupted.
  bool validate_and_export();
  bool measure_loss(ValidationReport& report, std::optional<BorrowedWeights>& average);
  std::optional<double> validation_loss();
  bool add_scores(ValidationReport& report);
  void save_model();
  std::optional<Weights> averaged_weights() const;
  const MovingAverage* ema() const { return ema_ ? &*ema_ : nullptr; }
  Saved current_state() const;

  Task& task_;
  const TrainedParameters& parameters_;
  TrainingFolder folder_;
  RunDescription run_;
  const TrainingOptions& options_;
  TrainingObserver& observer_;
  Optimizer optimizer_;
  UpdateStep step_;
  Schedule schedule_;
  EarlyStopping stopping_;
  std::optional<MovingAverage> ema_;
  Snapshots snapshots_;
  MetricsLog log_;
  std::optional<Saved> saved_;
  std::chrono::steady_clock::time_point save_time_;
  // Start of the timing behind the plan: after an update that has paid for the warming of caches.
  std::optional<Progress> timed_from_;
  bool is_planned_ = false;
  double seconds_before_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace heed::train
