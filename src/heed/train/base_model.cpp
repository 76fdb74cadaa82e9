#include "heed/train/base_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/config_fields.h"
#include "heed/models/family.h"
#include "heed/models/model_folder.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_files.h"

namespace heed::train {
namespace {

using models::ModelKind;

// The head of another family's classifier is given, too.
bool is_copied(std::string_view setting, const models::TransformerConfig& base) {
  if (setting == "pooling") return !base.family.empty() && models::has_pooling(base.kind);
  return std::ranges::any_of(models::config_fields(), [&](const models::ConfigField& field) {
    return field.is_architecture && field.option == setting;
  });
}

// All of them have the same encoder.
bool can_initialise(ModelKind kind, ModelKind base) {
  const bool has_its_encoder = kind == ModelKind::classifier || kind == ModelKind::tagger;
  return kind == base ||
         (has_its_encoder && (base == ModelKind::masked || base == ModelKind::encoder));
}

// The head that models of this family and kind have.
void set_head(models::TransformerConfig& config, const std::string& folder) {
  const models::TransformerConfig none;
  config.has_output_transform = none.has_output_transform;
  config.output_activation = none.output_activation;
  config.has_output_bias = none.has_output_bias;
  config.output_scale = none.output_scale;
  config.logit_softcap = none.logit_softcap;
  config.pooling = none.pooling;
  config.normalizes = none.normalizes;
  config.head_layer = none.head_layer;
  const models::Family* family = models::find_family(config.family);
  if (!family) return;
  const auto head = std::ranges::find(family->classes, config.kind, &models::FamilyClass::kind);
  check_as(ErrorKind::model, head != family->classes.end(), folder,
           ": expected a model of a family that has a ", name_of(config.kind), ", found ",
           config.family);
  if (head->set_head != nullptr) head->set_head(config);
}

// The network of a model of the recipe's kind that is initialised from the folder's.
models::TransformerConfig network_from(const Recipe& recipe, const std::string& folder) {
  models::TransformerConfig network = models::load_config(folder);
  const ModelKind kind = recipe.model.kind;
  check_as(ErrorKind::model, can_initialise(kind, network.kind), folder,
           ": expected a model to initialise a ", name_of(kind), " from, found a ",
           name_of(network.kind));
  if (network.kind != kind) {
    network.kind = kind;
    set_head(network, folder);
  }
  // One of Heed's has the tokenizer's number of rows, which is not known before there is one.
  if (network.family.empty()) network.vocabulary = 0;
  return network;
}

// Calls work(the recipe's setting, the model's) for each of the architecture that has an option.
template <typename Work>
void for_each_setting(Recipe& recipe, const models::TransformerConfig& model, Work&& work) {
  Recipe other;
  other.model = model;
  const auto ours = recipe_fields(recipe), theirs = recipe_fields(other);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (is_copied(ours[i].name, model)) work(ours[i], theirs[i]);
  }
}

}  // namespace

void copy_architecture(Recipe& recipe, const models::TransformerConfig& of_other_kind) {
  models::TransformerConfig model = of_other_kind;
  model.kind = recipe.model.kind;
  for_each_setting(recipe, model, [](const RecipeField& ours, const RecipeField& theirs) {
    ours.set(theirs.get());
  });
  copy_inherited(recipe.model, model);
  // Heed's own have it from their preset.
  if (!model.family.empty()) recipe.model.attention_dropout = model.attention_dropout;
}

void copy_architecture(Recipe& recipe, const std::string& folder) {
  copy_architecture(recipe, network_from(recipe, folder));
}

void check_same_architecture(const Recipe& recipe, const std::string& folder) {
  Recipe copy = recipe;
  const models::TransformerConfig base = network_from(recipe, folder);
  const auto check_setting = [&](const std::string& name, const std::string& expected,
                                 const std::string& found) {
    check_as(ErrorKind::usage, expected == found, quote(name), ": expected ", expected,
             " as in `from` ", folder, ", found ", found);
  };
  for_each_setting(copy, base, [&](const RecipeField& ours, const RecipeField& theirs) {
    check_setting(ours.name, theirs.get(), ours.get());
  });
  for (const models::ConfigField& field : models::config_fields()) {
    if (!models::is_inherited(field)) continue;
    check_setting(std::string(field.json), models::to_text(field, base),
                  models::to_text(field, recipe.model));
  }
}

namespace {

// What makes the output of the encoder into classes. A masked language model has none of it.
bool is_of_head(const std::string& name) {
  return name.starts_with("head.") || name.starts_with("head_layer.") ||
         name.starts_with("pooling.");
}

}  // namespace

void initialise_from(Task& task, const std::string& folder) {
  const bool has_same_labels = models::load_config(folder).labels == task.labels();
  const std::vector<nn::NamedTensor> theirs = models::load_parameters(folder);
  for (nn::NamedTensor& ours : nn::named_parameters(task)) {
    if (!has_same_labels && ours.name.starts_with("head.")) continue;
    const auto base = std::ranges::find(theirs, ours.name, &nn::NamedTensor::name);
    check_as(ErrorKind::model, base != theirs.end() || is_of_head(ours.name), folder,
             ": expected a parameter ", ours.name, ", found none");
    if (base == theirs.end()) continue;
    check_as(ErrorKind::model, base->value.shape() == ours.value.shape(), folder, ": ", ours.name,
             ": expected the shape ", ours.value.shape(), ", found ", base->value.shape());
    std::ranges::copy(base->value.values(), ours.value.data());
  }
}

}  // namespace heed::train
