#include "heed/train/training_run.h"

#include <algorithm>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/train/fine_tuning.h"
#include "heed/train/starting_model.h"
#include "heed/train/trainer.h"

namespace heed::train {
namespace {

// "--source, --target": the options that named the files.
std::string option_names(const TrainingFiles& files) {
  std::string names;
  for (const auto& [role, path] : files.paths) {
    names.append(names.empty() ? "--" : ", --").append(role);
  }
  return names;
}

void check_same_run(const RunDescription& begun, const RunDescription& asked) {
  check_same_recipe(begun.recipe, asked.recipe);
  check_as(ErrorKind::usage, begun.files.sha256 == asked.files.sha256, option_names(asked.files),
           ": expected the data with which this run was begun, found other data");
}

// Makes the folder, and takes it away again if the run ends before its first checkpoint.
class NewFolder {
 public:
  explicit NewFolder(const TrainingFolder& folder)
      : folder_(folder), was_there_(std::filesystem::exists(folder.model())) {
    folder.create();
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!was_there_ && !folder_.has_checkpoint()) {
      std::filesystem::remove_all(folder_.model(), ignored);
    }
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  TrainingFolder folder_;
  bool was_there_;
};

bool has_nothing_left(const RunDescription& run) {
  const TrainingState& state = run.state;
  EarlyStopping stopping(run.recipe.training.early_stopping, run.recipe.training.patience);
  stopping.state = state.stopping;
  return state.is_finished &&
         (stopping.is_exhausted() ||
          is_reached(run.recipe.training.after, {state.epoch, state.update, state.seconds}));
}

TrainingResult run_trainer(TrainingTask& task, const TrainingFolder& folder,
                           const RunDescription& run, std::optional<Checkpoint> checkpoint,
                           TrainingObserver& observer) {
  observer.on_start(task.run_start(run.state.epoch, run.state.update));
  Trainer trainer(task, folder, run, checkpoint ? &*checkpoint : nullptr, observer);
  checkpoint.reset();  // as large as the model and its moments
  TrainingResult result;
  result.end = trainer.run();
  result.update = trainer.state().update;
  if (result.end != RunEnd::interrupted) {
    result.weights_hash = models::weights_hash(models::load_parameters(folder.model()));
  }
  return result;
}

// A new task with the weights of the model that the run begins with, if there is one; a task that
// goes on, if its checkpoint lacks some of them.
std::unique_ptr<TrainingTask> ready(std::unique_ptr<TrainingTask> task, const RunDescription& run,
                                    bool is_new) {
  const auto from = run.files.paths.find("from");
  if (from == run.files.paths.end() || !(is_new || needs_beginning(run.recipe.training))) {
    return task;
  }
  take_weights(*task, from->second);
  return fine_tuned(std::move(task), run.recipe.training);
}

TrainingResult begin(const TrainingFolder& folder, const RunDescription& run,
                     const TaskMaker& maker, TrainingObserver& observer) {
  const std::unique_ptr<TrainingTask> task = ready(maker.begin(), run, /*is_new=*/true);
  if (observer.should_stop()) return {.end = RunEnd::interrupted, .weights_hash = {}};
  NewFolder new_folder(folder);
  const TrainingLock lock(folder);
  task->save_vocabulary(folder.model());
  return run_trainer(*task, folder, run, std::nullopt, observer);
}

TrainingResult go_on(const TrainingFolder& folder, RunDescription run, const TaskMaker& maker,
                     TrainingObserver& observer) {
  const TrainingLock lock(folder);
  io::remove_abandoned_writes(folder.training());
  Checkpoint checkpoint = Checkpoint::load(folder.checkpoint());
  check_same_run(checkpoint.run(), run);
  run.state = checkpoint.run().state;
  if (has_nothing_left(run)) {
    return {RunEnd::finished, run.state.update, /*was_finished=*/true,
            models::weights_hash(models::load_parameters(folder.model()))};
  }
  const std::unique_ptr<TrainingTask> task = ready(maker.go_on(folder), run, /*is_new=*/false);
  return run_trainer(*task, folder, run, std::move(checkpoint), observer);
}

}  // namespace

TrainingResult run_training(const TrainingFolder& folder, RunDescription run,
                            const TaskMaker& maker, TrainingObserver& observer) {
  return folder.has_checkpoint() ? go_on(folder, std::move(run), maker, observer)
                                 : begin(folder, run, maker, observer);
}

std::optional<RunDescription> begun_run(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  if (!folder.has_checkpoint()) return std::nullopt;
  return Checkpoint::load(folder.checkpoint()).run();
}

}  // namespace heed::train
