// The files of training in a model folder, and the lock of the process that writes them.
#pragma once

#include <string>

namespace heed::train {

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
  std::string snapshots() const { return training() + "/checkpoints"; }
  std::string metrics() const { return training() + "/metrics.jsonl"; }
  std::string tokenizer() const { return model_ + "/tokenizer.model"; }

  // checkpoint(), or the one before it if a process died while it replaced checkpoint().
  std::string newest_checkpoint() const;
  bool has_checkpoint() const;
  // Refuses (ErrorKind::usage) a path that is something else than a training run: a file, or a
  // folder with other contents.
  void check_usable() const;
  // Makes the folders. Files of a run that ended before its first checkpoint stay until they are
  // overwritten.
  void create() const;

 private:
  std::string model_;
};

// Is a run writing to this folder right now?
bool is_training_in(const TrainingFolder& folder);

// Held while a run writes to its folder. Refuses (ErrorKind::failed) when another process does.
class TrainingLock {
 public:
  explicit TrainingLock(const TrainingFolder& folder);
  ~TrainingLock();
  TrainingLock(const TrainingLock&) = delete;
  TrainingLock& operator=(const TrainingLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace heed::train
