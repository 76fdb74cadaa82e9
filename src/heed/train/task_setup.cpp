#include "heed/train/task_setup.h"

#include "heed/base/error.h"
#include "heed/models/model_folder.h"
#include "heed/train/auto_recipe.h"
#include "heed/train/base_model.h"
#include "heed/train/machine_speed.h"
#include "heed/train/memory_need.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/task_types.h"
#include "heed/train/trained_parameters.h"

namespace heed::train {
namespace {

void check_base_model(const Recipe& recipe, const std::string& base_model) {
  if (!base_model.empty()) return check_same_architecture(recipe, base_model);
  check_as(ErrorKind::usage, !needs_base_model(recipe.training),
           recipe.training.lora > 0 ? "`lora`" : "`freeze`",
           ": expected `from`, a pretrained model, found none");
}

// With frozen parameters the base model belongs to the data of the run.
std::string base_model_hash(const Recipe& recipe, const std::string& base_model) {
  if (!needs_base_model(recipe.training)) return "";
  return ' ' + models::weights_hash(models::load_parameters(base_model));
}

// For the data that the task has read.
void choose_recipe(Task& task, Recipe& recipe, const Settings& settings,
                   TrainingObserver& observer) {
  const std::optional<DataSize> size = task.data_size();
  if (!size) return;
  static const double speed = matmul_speed();  // the same for all runs of a sweep
  recipe = auto_recipe(recipe.model.kind, *size, {recipe.training.after, speed}, settings);
  validate(recipe);
  task.set_recipe(recipe);
  observer.on_recipe(recipe);
}

void report_fitted_vocabulary(Index size, const RunDescription& run, TrainingObserver& observer) {
  const text::TokenizerOptions& tokenizer = run.recipe.tokenizer;
  const bool is_learned =
      size > 0 && !run.files.paths.contains(base_model_role) &&
      (tokenizer.subwords == text::Subwords::bpe || tokenizer.subwords == text::Subwords::unigram);
  if (!is_learned || !tokenizer.fit_vocabulary || size == tokenizer.vocabulary) return;
  observer.on_warning("the text gives " + std::to_string(size) + " pieces instead of the " +
                      std::to_string(tokenizer.vocabulary) + " of the preset");
}

}  // namespace

RunDescription describe_run(const Training& training) {
  const TaskType& type = task_type_of(training.files);
  check_standard_input(training.files);
  RunDescription run;
  run.recipe = training.recipe;
  run.recipe.model.kind = type.model;
  if (training.automatic) fit_to_settings(run.recipe, *training.automatic);
  validate(run.recipe);
  return run;
}

std::unique_ptr<Task> read_task(const Training& training, RunDescription& run,
                                const RunDescription* saved, TrainingObserver& observer) {
  Recipe& recipe = run.recipe;
  if (training.automatic && saved) {
    copy_recipe_of_run(recipe, saved->recipe);
    customize(recipe, *training.automatic);
  }
  const std::string base_model = path_of(training.files, base_model_role);
  if (needs_base_model(recipe.training) || !saved) check_base_model(recipe, base_model);
  std::unique_ptr<Task> task = task_type_of(training.files).make(training.files, recipe);
  if (training.automatic && !saved) choose_recipe(*task, recipe, *training.automatic, observer);
  if (!saved && !recipe.model.family.empty()) observer.on_recipe(recipe);
  run.files = {training.files, task->data_hash() + base_model_hash(recipe, base_model)};
  return task;
}

void prepare_task(Task& task, const RunDescription& run, const std::string& resumed_folder) {
  const std::string base_model = path_of(run.files.paths, base_model_role);
  const bool is_resumed = !resumed_folder.empty();
  task.prepare(is_resumed ? resumed_folder : base_model);
  const bool needs_weights = !is_resumed || needs_base_model(run.recipe.training);
  if (!base_model.empty() && needs_weights) initialise_from(task, base_model);
}

void check_memory_for_batch(Task& task, const RunDescription& run) {
  const Index epoch = run.state.epoch;
  if (needs_base_model(run.recipe.training) || task.num_batches(epoch) == 0) return;
  check_memory(task.activation_bytes(epoch, 0),
               "the activations of a batch (a smaller `batch_tokens` needs less)");
}

void report_start(Task& task, const RunDescription& run, TrainingObserver& observer) {
  RunStart start{task.summary(), 0, run.state.update};
  for (const nn::NamedTensor& parameter : nn::named_parameters(task)) {
    start.num_parameters += parameter.value.size();
  }
  observer.on_start(start);
  if (run.state.update == 0) report_fitted_vocabulary(start.data.vocabulary, run, observer);
}

}  // namespace heed::train
