#include "heed/train/training.h"

#include <functional>
#include <memory>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/models/stored_weights.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/task_setup.h"
#include "heed/train/task_types.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/trainer.h"
#include "heed/train/training_folder.h"

namespace heed::train {
namespace {

// The roles whose contents belong to the data of the run: "`source`, `target`".
std::string data_roles(const RunDescription& run) {
  std::string names;
  for (const auto& [role, paths] : run.files.paths) {
    if (role == base_model_role && !needs_base_model(run.recipe.training)) continue;
    names.append(names.empty() ? "" : ", ").append(quote(role));
  }
  return names.empty() ? "training" : names;
}

// Older versions put the path of a base model that a resumed run does not need after the hash.
bool is_same_data(const RunDescription& saved, const RunDescription& run) {
  if (saved.files.sha256 == run.files.sha256) return true;
  return !needs_base_model(run.recipe.training) &&
         saved.files.sha256.starts_with(run.files.sha256 + ' ');
}

// It may have moved, but a run has one or none.
void check_same_base_model(const RunDescription& saved, const RunDescription& run) {
  const bool had_one = saved.files.paths.contains(base_model_role);
  const bool has_one = run.files.paths.contains(base_model_role);
  check_as(ErrorKind::usage, had_one == has_one, quote(base_model_role), ": expected ",
           had_one ? "the base model with which" : "none, as when", " this run was started, found ",
           has_one ? "one" : "none");
}

void check_same_run(const RunDescription& saved, const RunDescription& run) {
  check_same_recipe(saved.recipe, run.recipe);
  check_same_base_model(saved, run);
  check_as(ErrorKind::usage, is_same_data(saved, run), data_roles(run),
           ": expected the data with which this run was started, found other data");
}

bool has_nothing_left(const RunDescription& run) {
  const TrainingState& state = run.state;
  EarlyStopping stopping(run.recipe.training.early_stopping, run.recipe.training.patience);
  stopping.state = state.stopping;
  return state.is_finished &&
         (stopping.is_exhausted() ||
          is_reached(run.recipe.training.after, {state.epoch, state.update, state.seconds}));
}

// Whatever the model is, also one that is none of ours.
std::string saved_weights_hash(const TrainingFolder& folder) {
  const auto file = io::SafetensorsFile::load(models::weights_path(folder.model()));
  Weights weights;
  for (const io::TensorRecord& record : file.tensors()) {
    weights.push_back({record.name, Tensor::empty(models::shape_of(record, file.source()))});
  }
  read_weights(file, "", weights);
  return models::weights_hash(weights);
}

// A run in a locked folder, from its preparation to its end.
class FolderRun {
 public:
  FolderRun(const TrainingFolder& folder, RunMode mode, TrainingLock& lock,
            TrainingObserver& observer)
      : folder_(folder), mode_(mode), lock_(lock), observer_(observer) {}

  // Makes everything ready for the next update. False: there is none.
  bool prepare(Task& task, RunDescription run, std::optional<Checkpoint> checkpoint) {
    if (checkpoint) {
      check_same_run(checkpoint->run(), run);
      run.state = checkpoint->run().state;
      result_.update = run.state.update;
      if (has_nothing_left(run)) return false;
    }
    prepare_task(task, run, checkpoint ? folder_.model() : "");
    check_memory_for_batch(task, run);
    parameters_.emplace(task, run.recipe.training);
    report_start(task, run, observer_);
    if (!checkpoint) start_files(task);
    // The run that is overwritten is gone: this one gets to its first checkpoint.
    std::optional<CancellationScope> uncancelled;
    if (mode_ == RunMode::overwrite) uncancelled.emplace([] { return false; });
    start_trainer(task, run, checkpoint ? &*checkpoint : nullptr);
    return true;
  }

  TrainingResult train() {
    result_.end = trainer_->run();
    result_.update = trainer_->state().update;
    if (result_.end != RunEnd::interrupted) result_.weights_hash = saved_weights_hash(folder_);
    return result_;
  }

  TrainingResult finished_result() {
    result_.was_finished = true;
    result_.weights_hash = saved_weights_hash(folder_);
    return result_;
  }

 private:
  // Saves the first checkpoint of a new run. Once that is there, whatever fails after it, the run
  // can be resumed: its other files stay.
  void start_trainer(Task& task, const RunDescription& run, const Checkpoint* checkpoint) {
    try {
      trainer_.emplace(task, *parameters_, folder_, run, checkpoint, observer_);
    } catch (...) {
      if (may_have_checkpoint()) lock_.made().keep();
      throw;
    }
    lock_.made().keep();
  }
  // A disk that fails may not tell.
  bool may_have_checkpoint() const {
    try {
      return folder_.has_checkpoint();
    } catch (const Error&) {
      return true;
    }
  }

  // The files of a new run before its first checkpoint.
  void start_files(const Task& task) const {
    check_cancelled();
    folder_.check_in_place();
    if (mode_ == RunMode::overwrite) folder_.remove_run();
    std::vector<std::string> files{folder_.metrics(), folder_.next_checkpoint(),
                                   snapshot_path(folder_.snapshots(), 0)};
    for (const std::string& name : task.tokenizer_files()) {
      files.push_back(folder_.model() + '/' + name);
    }
    for (const std::string& file : files) lock_.made().add_file(file);
    task.save_tokenizer(folder_.model());
  }

  const TrainingFolder& folder_;
  RunMode mode_;
  TrainingLock& lock_;
  TrainingObserver& observer_;
  TrainingResult result_;
  std::optional<TrainedParameters> parameters_;
  std::optional<Trainer> trainer_;
};

// Removes what killed processes left.
void sweep(const TrainingFolder& folder) {
  for (const std::string& path : {folder.model(), folder.training(), folder.snapshots()}) {
    io::remove_abandoned_writes(path);
  }
}

std::optional<Checkpoint> load_checkpoint(const TrainingFolder& folder, RunMode mode) {
  if (mode == RunMode::overwrite || !folder.has_checkpoint()) return std::nullopt;
  if (!io::is_file(folder.checkpoint())) restore_previous_checkpoint(folder);
  return Checkpoint::load_newest(folder);
}

// What is trained. Made when the folder is locked, because reading the data may take long.
using MakeTask = std::function<Task&(RunDescription& run, const RunDescription* saved)>;

TrainingResult train_in(const TrainingFolder& folder, RunMode mode, RunDescription run,
                        const MakeTask& make_task, TrainingObserver& observer) {
  folder.check_usable(mode);
  TrainingLock lock(folder);
  folder.check_usable(mode);  // another run may have come and gone before the lock was taken
  if (!lock.missing().empty()) {
    observer.on_warning(folder.model() + ": cannot be locked: " + lock.missing() +
                        "; start no second run in this folder");
  }
  sweep(folder);
  FolderRun folder_run(folder, mode, lock, observer);
  try {
    const CancellationScope scope([&] { return observer.should_stop(); });
    check_cancelled();
    std::optional<Checkpoint> checkpoint = load_checkpoint(folder, mode);
    Task& task = make_task(run, checkpoint ? &checkpoint->run() : nullptr);
    if (!folder_run.prepare(task, std::move(run), std::move(checkpoint))) {
      return folder_run.finished_result();
    }
  } catch (const Cancelled&) {
    return {.end = RunEnd::interrupted, .is_saved = false, .weights_hash = {}};
  }
  return folder_run.train();
}

}  // namespace

TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options,
                     TrainingObserver& observer) {
  RunDescription run;
  run.recipe.training = options;
  validate(run.recipe.training);
  const MakeTask describe = [&](RunDescription& description, const RunDescription*) -> Task& {
    description.files.sha256 = task.data_hash();
    return task;
  };
  return train_in(TrainingFolder(model_folder), RunMode::start_or_resume, std::move(run), describe,
                  observer);
}

TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options) {
  TrainingObserver silent;
  return train(task, model_folder, options, silent);
}

TrainingResult train_model(Training training, TrainingObserver& observer) {
  std::unique_ptr<Task> task;
  const MakeTask read_data = [&](RunDescription& run, const RunDescription* saved) -> Task& {
    task = read_task(training, run, saved, observer);
    return *task;
  };
  return train_in(TrainingFolder(training.model_folder), training.mode, describe_run(training),
                  read_data, observer);
}

TrainingResult train_model(Training training) {
  TrainingObserver silent;
  return train_model(std::move(training), silent);
}

void restore_previous_checkpoint(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  check_as(ErrorKind::usage, folder.has_checkpoint(), model_folder,
           ": expected a training run to resume, found none");
  const TrainingLock lock(folder);
  restore_previous_checkpoint(folder);
}

}  // namespace heed::train
