// Training runs: a task is trained in a model folder, from the start or from the folder's
// checkpoint on.
#pragma once

#include <optional>
#include <string>

#include "heed/train/checkpoint.h"
#include "heed/train/recipe.h"
#include "heed/train/task.h"
#include "heed/train/training_files.h"
#include "heed/train/training_observer.h"

namespace heed::train {

struct TrainingResult {
  RunEnd end = RunEnd::finished;
  Index update = 0;
  bool was_finished = false;  // nothing was left to do
  std::string weights_hash;   // of the saved model: "sha256:..."; empty when interrupted
};

// Starts a run in the folder, or resumes the one whose checkpoint is there: to the bit as if it had
// never stopped. Refuses (ErrorKind::usage) options that cannot be used, a folder with other
// contents, and a resumed run with other options or data than it was started with; all before the
// folder is made. A run that diverges goes back to its last checkpoint with half the learning rate;
// Error(diverged) when that does not help, and at once with `strict`.
TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options,
                     TrainingObserver& observer);
TrainingResult train(Task& task, const std::string& model_folder,
                     const TrainingOptions& options = {});  // without an observer

// A run on files, as `heed train` makes it.
struct Training {
  std::string model_folder;
  FilePaths files;  // by role; they decide the type of the task
  Recipe recipe;
};

// The same for a task that is made from files: Error(data) for bad ones. The recipe's kind of model
// is that of the task.
TrainingResult train_model(Training training, TrainingObserver& observer);

// The run whose checkpoint is in a model folder; nothing when there is none.
std::optional<RunDescription> saved_run(const std::string& model_folder);

// Sets the run in a model folder back by one checkpoint, for when the newest is damaged. Refuses
// (ErrorKind::usage) a folder without a previous one.
void restore_previous_checkpoint(const std::string& model_folder);

}  // namespace heed::train
