#include "heed/train/training.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/models/model_folder.h"
#include "heed/train/classification_training.h"
#include "heed/train/fine_tuning.h"
#include "heed/train/image_training.h"
#include "heed/train/language_training.h"
#include "heed/train/masked_training.h"
#include "heed/train/starting_model.h"
#include "heed/train/translation_training.h"

namespace heed::train {
namespace {

std::vector<std::string> required_files(const TrainingKind& kind) {
  std::vector<std::string> names;
  for (const FileRole& role : kind.files) {
    if (role.is_required) names.push_back("--" + role.name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  std::string all;
  for (const std::string& name : names) all.append(all.empty() ? "" : between).append(name);
  return all;
}

// "--source and --target, or --text"
std::string all_required_files() {
  std::vector<std::string> kinds;
  for (const TrainingKind& kind : training_kinds()) {
    kinds.push_back(joined(required_files(kind), " and "));
  }
  return joined(kinds, ", or ");
}

bool has_any(const TrainingKind& kind, const FilePaths& files) {
  return std::ranges::any_of(kind.files, [&](const FileRole& role) {
    return role.is_required && files.contains(role.name);
  });
}

void check_complete(const TrainingKind& kind, const FilePaths& files) {
  for (const FileRole& role : kind.files) {
    check_as(ErrorKind::usage, !role.is_required || files.contains(role.name),
             "heed train: expected ", joined(required_files(kind), " and "), ", found no --",
             role.name);
  }
  for (const auto& [name, path] : files) {
    check_as(ErrorKind::usage, std::ranges::count(kind.files, name, &FileRole::name) == 1, "--",
             name, ": does not go with ", joined(required_files(kind), " and "));
  }
}

void check_beginning(const Recipe& recipe, const std::string& from) {
  if (!from.empty()) return check_same_network(recipe, from);
  check_as(ErrorKind::usage, !needs_beginning(recipe.training),
           recipe.training.lora > 0 ? "--lora" : "--freeze",
           ": expected --from, a model to begin with, found none");
}

}  // namespace

std::span<const TrainingKind> training_kinds() {
  static const std::array kinds{translation_training(),    pairs_training(),  language_training(),
                                classification_training(), masked_training(), image_training()};
  return kinds;
}

const TrainingKind& kind_of(const FilePaths& files) {
  const auto kind = std::ranges::find_if(
      training_kinds(), [&](const TrainingKind& kind) { return has_any(kind, files); });
  check_as(ErrorKind::usage, kind != training_kinds().end(), "heed train: expected ",
           all_required_files(), ", found none of them");
  check_complete(*kind, files);
  return *kind;
}

TrainingResult train_model(Training training, TrainingObserver& observer) {
  const TrainingKind& kind = kind_of(training.files);
  training.recipe.model.kind = kind.model;
  validate(training.recipe);
  const TrainingFolder folder(training.model_folder);
  folder.check_usable();
  const std::string from = path_of(training.files, from_role.name);
  if (needs_beginning(training.recipe.training) || !folder.has_checkpoint()) {
    check_beginning(training.recipe, from);
  }
  const std::unique_ptr<TaskMaker> maker = kind.make(training.files, training.recipe);
  std::string hash = maker->data_hash();
  if (!from.empty()) {
    const bool is_needed = needs_beginning(training.recipe.training);
    hash += ' ' + (is_needed ? models::weights_hash(models::load_parameters(from)) : from);
  }
  RunDescription run;
  run.recipe = training.recipe;
  run.files = {training.files, std::move(hash)};
  return run_training(folder, std::move(run), *maker, observer);
}

}  // namespace heed::train
