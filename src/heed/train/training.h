// Training runs: a task is trained in a model folder, from the start or from the folder's
// checkpoint on.
#pragma once

#include <optional>
#include <string>

#include "heed/train/file_paths.h"
#include "heed/train/recipe.h"
#include "heed/train/task.h"
#include "heed/train/training_observer.h"

namespace heed::train {

struct TrainingResult {
  RunEnd end = RunEnd::finished;
  Index update = 0;
  bool was_finished = false;  // nothing was left to do
  bool is_saved = true;       // false: interrupted while it prepared; nothing was written
  std::string weights_hash;   // of the saved model: "sha256:..."; empty when interrupted
};

// Starts a run in the folder, or resumes the one whose checkpoint is there: to the bit as if it had
// never stopped. Refuses (ErrorKind::usage) options that cannot be used, a folder with other
// contents, a model without a checkpoint, and a resumed run with other options or data than it was
// started with; Error(failed) when another process trains in the folder. The folder is locked
// before anything slow begins. A run that ends before its first checkpoint removes what it has
// made, and nothing else. A run that diverges goes back to its last checkpoint with half the
// learning rate; Error(diverged) when that does not help, and at once with `strict`.
TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options,
                     TrainingObserver& observer);
TrainingResult train(Task& task, const std::string& model_folder,
                     const TrainingOptions& options = {});  // without an observer

// What to do with the run that a model folder holds.
enum class RunMode {
  start_or_resume,  // resume it; start one where there is none
  resume,           // resume it; refuse a folder without one
  overwrite,        // start another one in its place
};

// A run on files, as `heed train` makes it.
struct Training {
  std::string model_folder;
  FilePaths files;  // their roles decide the type of the task
  Recipe recipe;
  RunMode mode = RunMode::start_or_resume;
  // The recipe is chosen for the data, with these settings (auto_recipe.h); a run that is resumed
  // has what was chosen when it was started. `recipe` serves to read the data.
  std::optional<Settings> automatic = {};
};

// The same for a task that is made from files: Error(data) for bad ones. The recipe's kind of model
// is that of the task.
TrainingResult train_model(Training training, TrainingObserver& observer);
TrainingResult train_model(Training training);  // without an observer

// Sets the run in a model folder back by one checkpoint, for when the newest is damaged. Refuses
// (ErrorKind::usage) a folder without a previous one.
void restore_previous_checkpoint(const std::string& model_folder);

}  // namespace heed::train
