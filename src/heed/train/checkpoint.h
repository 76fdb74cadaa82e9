// Checkpoints: everything that a run needs to resume with the same bits, in one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/train/averaging.h"
#include "heed/train/early_stopping.h"
#include "heed/train/optimizer.h"
#include "heed/train/recipe.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_files.h"

namespace heed::train {

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
  double seconds = 0;  // time spent so far
  bool is_finished = false;
};

// The contents of a checkpoint besides tensors.
struct RunDescription {
  TrainingState state;
  Recipe recipe;
  TrainingFiles files;
};

// Replaces the file in one step. `ema` may be null.
void save_checkpoint(const std::string& path, const RunDescription& run, Optimizer& optimizer,
                     const MovingAverage* ema);

class Checkpoint {
 public:
  // Refuses (ErrorKind::model) a file that is damaged or no checkpoint.
  static Checkpoint load(const std::string& path);

  const RunDescription& run() const { return run_; }
  // Overwrites the weights, Adam's moments and the moving average.
  void restore(Optimizer& optimizer, MovingAverage* ema) const;

 private:
  Checkpoint(io::SafetensorsFile file, RunDescription run)
      : file_(std::move(file)), run_(std::move(run)) {}

  io::SafetensorsFile file_;
  RunDescription run_;
};

// The run whose checkpoint is in a model folder; nothing when there is none.
std::optional<RunDescription> saved_run(const std::string& model_folder);

}  // namespace heed::train
