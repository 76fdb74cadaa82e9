#include "heed/train/base_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/config_fields.h"
#include "heed/models/model_folder.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_files.h"

namespace heed::train {
namespace {

bool is_architecture(std::string_view setting) {
  return std::ranges::any_of(models::config_fields(), [&](const models::ConfigField& field) {
    return field.is_architecture && field.option == setting;
  });
}

// A classifier, a tagger and a masked language model have the same encoder.
bool can_initialise(models::ModelKind kind, models::ModelKind base) {
  using models::ModelKind;
  const bool has_its_encoder = kind == ModelKind::classifier || kind == ModelKind::tagger;
  return kind == base || (has_its_encoder && base == ModelKind::masked);
}

models::TransformerConfig load_base_config(const Recipe& recipe, const std::string& folder) {
  const models::TransformerConfig base = models::load_config(folder);
  check_as(ErrorKind::model, can_initialise(recipe.model.kind, base.kind), folder,
           ": expected a model to initialise a ", name_of(recipe.model.kind), " from, found a ",
           name_of(base.kind));
  return base;
}

// Calls work(the recipe's setting, the model's) for each of the architecture.
template <typename Work>
void for_each_setting(Recipe& recipe, const models::TransformerConfig& model, Work&& work) {
  Recipe other;
  other.model = model;
  const auto ours = recipe_fields(recipe), theirs = recipe_fields(other);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (is_architecture(ours[i].name)) work(ours[i], theirs[i]);
  }
}

}  // namespace

void copy_architecture(Recipe& recipe, const models::TransformerConfig& model) {
  for_each_setting(recipe, model, [](const RecipeField& ours, const RecipeField& theirs) {
    ours.set(theirs.get());
  });
}

void copy_architecture(Recipe& recipe, const std::string& folder) {
  copy_architecture(recipe, load_base_config(recipe, folder));
}

void check_same_architecture(const Recipe& recipe, const std::string& folder) {
  Recipe copy = recipe;
  const models::TransformerConfig base = load_base_config(recipe, folder);
  for_each_setting(copy, base, [&](const RecipeField& ours, const RecipeField& theirs) {
    check_as(ErrorKind::usage, ours.get() == theirs.get(), quote(ours.name), ": expected ",
             theirs.get(), " as in `from` ", folder, ", found ", ours.get());
  });
}

void initialise_from(Task& task, const std::string& folder) {
  const bool has_same_head = models::load_config(folder).labels == task.labels();
  const std::vector<nn::NamedTensor> theirs = models::load_parameters(folder);
  for (nn::NamedTensor& ours : nn::named_parameters(task)) {
    const auto base = std::ranges::find(theirs, ours.name, &nn::NamedTensor::name);
    if (base == theirs.end() || (!has_same_head && ours.name.starts_with("head."))) continue;
    check_as(ErrorKind::model, base->value.shape() == ours.value.shape(), folder, ": ", ours.name,
             ": expected the shape ", ours.value.shape(), ", found ", base->value.shape());
    std::ranges::copy(base->value.values(), ours.value.data());
  }
}

}  // namespace heed::train
