#include "heed/train/training.h"

#include <filesystem>
#include <memory>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/train/base_model.h"
#include "heed/train/task_types.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/trainer.h"
#include "heed/train/training_folder.h"

namespace heed::train {
namespace {

// Makes the folder, and removes it again if the run ends before its first checkpoint.
class NewFolder {
 public:
  explicit NewFolder(const TrainingFolder& folder)
      : folder_(folder), existed_(std::filesystem::exists(folder.model())) {
    folder.create();
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!existed_ && !folder_.has_checkpoint()) {
      std::filesystem::remove_all(folder_.model(), ignored);
    }
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  TrainingFolder folder_;
  bool existed_;
};

// "`source`, `target`"
std::string role_names(const TrainingFiles& files) {
  std::string names;
  for (const auto& [role, path] : files.paths) {
    names.append(names.empty() ? "" : ", ").append(quoted(role));
  }
  return names.empty() ? "training" : names;
}

void check_same_run(const RunDescription& saved, const RunDescription& run) {
  check_same_recipe(saved.recipe, run.recipe);
  check_as(ErrorKind::usage, saved.files.sha256 == run.files.sha256, role_names(run.files),
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
    weights.push_back({record.name, Tensor::empty(Shape(record.shape))});
  }
  read_weights(file, "", weights);
  return models::weights_hash(weights);
}

TrainingResult run_loop(Task& task, const TrainedParameters& parameters,
                        const TrainingFolder& folder, const RunDescription& run,
                        std::optional<Checkpoint> checkpoint, TrainingObserver& observer) {
  RunStart start{task.summary(), 0, run.state.update};
  for (const nn::NamedTensor& parameter : nn::named_parameters(task)) {
    start.num_parameters += parameter.value.size();
  }
  observer.on_start(start);
  Trainer trainer(task, parameters, folder, run, checkpoint ? &*checkpoint : nullptr, observer);
  checkpoint.reset();  // as large as the model and its moments
  TrainingResult result;
  result.end = trainer.run();
  result.update = trainer.state().update;
  if (result.end != RunEnd::interrupted) result.weights_hash = saved_weights_hash(folder);
  return result;
}

TrainingResult start(Task& task, const TrainingFolder& folder, const RunDescription& run,
                     TrainingObserver& observer) {
  const std::string base_model = path_of(run.files.paths, base_model_role);
  task.prepare(base_model);
  if (!base_model.empty()) initialise_from(task, base_model);
  const TrainedParameters parameters(task, run.recipe.training);
  if (observer.should_stop()) return {.end = RunEnd::interrupted, .weights_hash = {}};

  const NewFolder new_folder(folder);
  const TrainingLock lock(folder);
  task.save_tokenizer(folder.model());
  return run_loop(task, parameters, folder, run, std::nullopt, observer);
}

TrainingResult resume(Task& task, const TrainingFolder& folder, RunDescription run,
                      TrainingObserver& observer) {
  const TrainingLock lock(folder);
  io::remove_abandoned_writes(folder.training());
  if (!io::is_file(folder.checkpoint())) restore_previous_checkpoint(folder);
  Checkpoint checkpoint = Checkpoint::load_newest(folder);
  check_same_run(checkpoint.run(), run);
  run.state = checkpoint.run().state;
  if (has_nothing_left(run)) {
    return {RunEnd::finished, run.state.update, /*was_finished=*/true, saved_weights_hash(folder)};
  }

  task.prepare(folder.model());
  const std::string base_model = path_of(run.files.paths, base_model_role);
  if (!base_model.empty() && needs_base_model(run.recipe.training)) {
    initialise_from(task, base_model);
  }
  const TrainedParameters parameters(task, run.recipe.training);
  return run_loop(task, parameters, folder, run, std::move(checkpoint), observer);
}

TrainingResult start_or_resume(Task& task, const TrainingFolder& folder, RunDescription run,
                               TrainingObserver& observer) {
  return folder.has_checkpoint() ? resume(task, folder, std::move(run), observer)
                                 : start(task, folder, run, observer);
}

void check_base_model(const Recipe& recipe, const std::string& base_model) {
  if (!base_model.empty()) return check_same_architecture(recipe, base_model);
  check_as(ErrorKind::usage, !needs_base_model(recipe.training),
           recipe.training.lora > 0 ? "`lora`" : "`freeze`",
           ": expected `from`, a pretrained model, found none");
}

// With frozen parameters the base model belongs to the data of the run, otherwise only its name.
std::string base_model_hash(const Recipe& recipe, const std::string& base_model) {
  if (base_model.empty()) return "";
  return ' ' + (needs_base_model(recipe.training)
                    ? models::weights_hash(models::load_parameters(base_model))
                    : base_model);
}

}  // namespace

TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options,
                     TrainingObserver& observer) {
  RunDescription run;
  run.recipe.training = options;
  validate(run.recipe.training);
  const TrainingFolder folder(model_folder);
  folder.check_usable();
  run.files.sha256 = task.data_hash();
  return start_or_resume(task, folder, std::move(run), observer);
}

TrainingResult train(Task& task, const std::string& model_folder, const TrainingOptions& options) {
  TrainingObserver silent;
  return train(task, model_folder, options, silent);
}

TrainingResult train_model(Training training, TrainingObserver& observer) {
  const TaskType& type = task_type_of(training.files);
  RunDescription run;
  run.recipe = std::move(training.recipe);
  run.recipe.model.kind = type.model;
  validate(run.recipe);
  const TrainingFolder folder(training.model_folder);
  folder.check_usable();
  const std::string base_model = path_of(training.files, base_model_role);
  if (needs_base_model(run.recipe.training) || !folder.has_checkpoint()) {
    check_base_model(run.recipe, base_model);
  }
  const std::unique_ptr<Task> task = type.make(training.files, run.recipe);
  run.files = {training.files, task->data_hash() + base_model_hash(run.recipe, base_model)};
  return start_or_resume(*task, folder, std::move(run), observer);
}

std::optional<RunDescription> saved_run(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  if (!folder.has_checkpoint()) return std::nullopt;
  return Checkpoint::load_newest(folder).run();
}

void restore_previous_checkpoint(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  check_as(ErrorKind::usage, folder.has_checkpoint(), model_folder,
           ": expected a training run to resume, found none");
  const TrainingLock lock(folder);
  restore_previous_checkpoint(folder);
}

}  // namespace heed::train
