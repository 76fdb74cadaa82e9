#include "heed/train/starting_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/config_fields.h"
#include "heed/models/model_folder.h"

namespace heed::train {
namespace {

bool is_architecture(std::string_view setting) {
  return std::ranges::any_of(models::config_fields(), [&](const models::ConfigField& field) {
    return field.is_architecture && field.option == setting;
  });
}

bool can_begin_with(models::ModelKind kind, models::ModelKind other) {
  const bool is_encoder =
      kind == models::ModelKind::classifier && other == models::ModelKind::masked;
  return kind == other || is_encoder;
}

// Calls work(its setting, the folder's) for each of these.
template <typename Work>
void over_network(Recipe& recipe, const std::string& folder, Work&& work) {
  Recipe other;
  other.model = models::load_config(folder);
  check_as(ErrorKind::model, can_begin_with(recipe.model.kind, other.model.kind), folder,
           ": expected a model to begin a ", models::name_of(recipe.model.kind), " with, found a ",
           models::name_of(other.model.kind));
  const auto ours = recipe_fields(recipe), theirs = recipe_fields(other);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (is_architecture(ours[i].name)) work(ours[i], theirs[i]);
  }
}

}  // namespace

void take_network(Recipe& recipe, const std::string& folder) {
  over_network(recipe, folder,
               [](const RecipeField& ours, const RecipeField& theirs) { ours.set(theirs.get()); });
}

void check_same_network(const Recipe& recipe, const std::string& folder) {
  Recipe copy = recipe;
  over_network(copy, folder, [&](const RecipeField& ours, const RecipeField& theirs) {
    check_as(ErrorKind::usage, ours.get() == theirs.get(), "--", ours.name, ": expected ",
             theirs.get(), " as in --from ", folder, ", found ", ours.get());
  });
}

void take_weights(TrainingTask& task, const std::string& folder) {
  const bool takes_head = models::load_config(folder).labels == task.config().labels;
  const std::vector<nn::NamedTensor> theirs = models::load_parameters(folder);
  for (nn::NamedTensor& ours : nn::named_parameters(task)) {
    const auto found = std::ranges::find(theirs, ours.name, &nn::NamedTensor::name);
    if (found == theirs.end() || (!takes_head && ours.name.starts_with("head."))) continue;
    check_as(ErrorKind::model, found->value.shape() == ours.value.shape(), folder, ": ", ours.name,
             ": expected the shape ", ours.value.shape(), ", found ", found->value.shape());
    std::ranges::copy(found->value.values(), ours.value.data());
  }
}

}  // namespace heed::train
