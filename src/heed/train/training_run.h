// A whole training run in a model folder, whatever it trains: begun, or gone on with.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "heed/train/checkpoint.h"
#include "heed/train/training_folder.h"
#include "heed/train/training_observer.h"
#include "heed/train/training_task.h"

namespace heed::train {

struct TrainingResult {
  RunEnd end = RunEnd::finished;
  Index update = 0;
  bool was_finished = false;  // nothing was left to do
  std::string weights_hash;   // of the model in the folder: "sha256:..."; empty when interrupted
};

// Makes the task of a run. Everything that can be wrong with options and data is found here, before
// the folder is made.
class TaskMaker {
 public:
  virtual ~TaskMaker() = default;
  // With a tokenizer and weights of its own.
  virtual std::unique_ptr<TrainingTask> begin() const = 0;
  // With the tokenizer in the folder; the weights come from the checkpoint.
  virtual std::unique_ptr<TrainingTask> go_on(const TrainingFolder& folder) const = 0;
  // Of all that the task reads: a run goes on with the same data only.
  virtual std::string data_hash() const = 0;
};

// `run` says what is asked for; where the folder holds a checkpoint, its state is taken from there.
// Refuses (ErrorKind::usage) to go on with other settings or files than the run was begun with.
TrainingResult run_training(const TrainingFolder& folder, RunDescription run,
                            const TaskMaker& maker, TrainingObserver& observer);

// The run that was begun in a folder; nothing when there is none.
std::optional<RunDescription> begun_run(const std::string& model_folder);

}  // namespace heed::train
