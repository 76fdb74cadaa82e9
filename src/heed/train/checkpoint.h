// Checkpoints: everything that a run needs to resume with the same bits, in one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/train/averaging.h"
#include "heed/train/early_stopping.h"
#include "heed/train/environment.h"
#include "heed/train/optimizer.h"
#include "heed/train/recipe.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_files.h"
#include "heed/train/training_folder.h"

namespace heed::train {

// Updates in a row without a finite loss or gradient before a run has diverged.
inline constexpr Index max_skipped_in_a_row = 5;
// Rollbacks that do not get a run past the update where it diverged before it is given up.
inline constexpr Index max_rollbacks = 3;

// The state of a run between two updates.
struct TrainingState {
  Index update = 0;            // updates done, skipped ones included
  Index epoch = 0;             // whole passes over the data that are done
  Index batch = 0;             // batches of this epoch that are done
  Index target_tokens = 0;     // trained on so far
  Index optimizer_steps = 0;   // updates that were applied
  Index skipped_in_a_row = 0;  // updates that were not, because the loss was not finite
  Index validated_update = 0;  // the last update after which the model was validated
  EarlyStopping::State stopping;
  SnapshotUpdates snapshots;
  std::vector<Index> previous_snapshots;  // which the previous checkpoint averages
  double rate_scale = 1;                  // of the learning rate; every rollback halves it
  Index rollbacks = 0;                    // since the run last got past `diverged_update`
  Index diverged_update = 0;              // the last update before the last rollback
  double seconds = 0;                     // time spent so far
  bool is_finished = false;
};

// The contents of a checkpoint besides tensors.
struct RunDescription {
  TrainingState state;
  Recipe recipe;
  TrainingFiles files;
};

// Are all numbers finite that a checkpoint would hold?
bool can_be_saved(Optimizer& optimizer, const MovingAverage* ema);

// Replaces the file in one step. `ema` may be null. Refuses (ErrorKind::diverged) numbers that are
// not finite.
void save_checkpoint(const std::string& path, const RunDescription& run, Optimizer& optimizer,
                     const MovingAverage* ema);
// The next checkpoint of a folder becomes the newest, and the newest the previous one. At every
// instant at least one of the two is there, complete. May be called again when it has failed.
void promote_next_checkpoint(const TrainingFolder& folder);

class Checkpoint {
 public:
  // Refuses (ErrorKind::model) a file that is damaged or no checkpoint, and a state that no run can
  // have.
  static Checkpoint load(const std::string& path);
  // The newest of a folder. When it is refused and there is one before it, the message says so.
  static Checkpoint load_newest(const TrainingFolder& folder);

  const RunDescription& run() const { return run_; }
  // Where it was written; older checkpoints do not say.
  const std::optional<Environment>& environment() const { return environment_; }
  // Overwrites the weights, Adam's moments and the moving average.
  void restore(Optimizer& optimizer, MovingAverage* ema) const;

 private:
  Checkpoint(io::SafetensorsFile file, RunDescription run, std::optional<Environment> environment)
      : file_(std::move(file)), run_(std::move(run)), environment_(std::move(environment)) {}

  io::SafetensorsFile file_;
  RunDescription run_;
  std::optional<Environment> environment_;
};

// The run whose checkpoint is in a model folder; nothing when there is none.
std::optional<RunDescription> saved_run(const std::string& model_folder);

// The previous checkpoint takes the place of the newest. Refuses a damaged one (ErrorKind::model),
// and to do so when there is none (ErrorKind::usage); then nothing changes.
void restore_previous_checkpoint(const TrainingFolder& folder);

}  // namespace heed::train
