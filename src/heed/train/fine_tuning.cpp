#include "heed/train/fine_tuning.h"

#include <algorithm>

namespace heed::train {
namespace {

using models::ModelKind;

// Peak rates. T5's authors used a constant 1e-3 for all of their tasks, with another optimizer;
// encoders lose what they know at rates beyond 1e-4 (Devlin and others 2019, appendix A.3).
double learning_rate(const models::TransformerConfig& model, bool with_lora) {
  if (with_lora) return 1e-3;
  switch (model.kind) {
    case ModelKind::translation:
      return model.family.ends_with("t5") ? 3e-4 : 2e-4;
    case ModelKind::language:
    case ModelKind::masked:
    case ModelKind::image_classifier:
      return 1e-4;
    default:
      return 5e-5;
  }
}

// About 20 sentences, or a few windows of running text.
Index batch_tokens(const models::TransformerConfig& model) {
  switch (model.kind) {
    case ModelKind::image_classifier:
      return 32 * (models::num_patches(model) + 1);
    case ModelKind::language:
    case ModelKind::masked:
      return 1024;
    default:
      return 512;
  }
}

// A new head takes longer than a little more of what the model does already.
Index num_epochs(ModelKind kind) { return models::has_classes(kind) ? 5 : 3; }

}  // namespace

void fit_to_fine_tuning(Recipe& recipe, bool with_lora) {
  TrainingOptions& training = recipe.training;
  models::TransformerConfig& model = recipe.model;
  training.optimizer = {.kind = OptimizerKind::adamw,
                        .beta1 = 0.9,
                        .beta2 = 0.999,
                        .epsilon = 1e-8,
                        .weight_decay = 0.01,
                        .clip = 1};
  training.schedule = {.kind = ScheduleKind::linear,
                       .peak = learning_rate(model, with_lora),
                       .warm_up = 100,
                       .max_warm_up_share = 0.06};
  training.after = epochs(num_epochs(model.kind));
  training.batch_tokens = batch_tokens(model);
  training.accumulate = 1;
  training.validate_every = training.save_every = epochs(1);
  training.average = 1;
  training.curriculum = 0;
  model.dropout = 0.1f;
}

void fit_max_length(Recipe& recipe) {
  recipe.training.max_length =
      std::min(recipe.training.max_length, models::max_positions(recipe.model));
}

}  // namespace heed::train
