// The files of training in a model folder, and the lock of the process that writes them.
#pragma once

#include <string>

#include "heed/io/descriptor.h"
#include "heed/io/rollback.h"

namespace heed::train {

enum class RunMode;  // training.h

class TrainingFolder {
 public:
  explicit TrainingFolder(std::string model_folder) : model_(std::move(model_folder)) {}

  const std::string& model() const { return model_; }
  std::string training() const { return model_ + "/training"; }
  std::string checkpoint() const { return training() + "/checkpoint.safetensors"; }
  // The one before it that a run can go back to.
  std::string previous_checkpoint() const {
    return training() + "/checkpoint.previous.safetensors";
  }
  // Written before it takes the place of checkpoint().
  std::string next_checkpoint() const { return training() + "/checkpoint.next.safetensors"; }
  std::string snapshots() const { return training() + "/checkpoints"; }
  std::string metrics() const { return training() + "/metrics.jsonl"; }

  // checkpoint(), or the one before it if a process died while it replaced checkpoint().
  std::string newest_checkpoint() const;
  bool has_checkpoint() const;
  // Refuses (ErrorKind::usage) a path that is something else than a training run: no name, a file,
  // a folder with other contents, a model without a checkpoint (unless it is overwritten), and for
  // RunMode::resume a folder without a run.
  void check_usable(RunMode mode) const;
  // Removes the checkpoints and the model, and nothing else.
  void remove_run() const;
  // Refuses (ErrorKind::failed) to write when the run's own folder is gone: what stands in its
  // place is somebody else's.
  void check_in_place() const;

 private:
  void check_folder() const;
  bool has_model() const;
  bool is_ours() const;
  bool is_empty() const;

  std::string model_;
};

// Is a run writing to this folder right now?
bool is_training_in(const TrainingFolder& folder);

// Held while a run prepares and writes to its folder.
class TrainingLock {
 public:
  // Makes the folders where they are missing. Refuses (ErrorKind::failed) when another process
  // holds the lock, and then changes nothing. A file system without locks is no reason to refuse.
  explicit TrainingLock(const TrainingFolder& folder);

  // Why there is no lock, on a file system without; otherwise empty.
  const std::string& missing() const { return missing_; }
  // What the run makes: gone with the lock unless it is kept.
  io::Rollback& made() { return made_; }

 private:
  void lock(const TrainingFolder& folder);

  io::Descriptor descriptor_;  // of training/
  std::string missing_;
  io::Rollback made_;  // ends first: nobody else gets the lock before all is undone
};

}  // namespace heed::train
