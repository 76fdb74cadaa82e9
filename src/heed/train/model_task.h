// The base class of tasks with a model: parameters, losses of batches, and the model folder.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/data/line_corpus.h"
#include "heed/io/files.h"
#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/train/memory_need.h"
#include "heed/train/task.h"

namespace heed::train {

struct BatchSize {
  Index num_targets = 0;        // what the sum of the loss is divided by
  Index num_source_tokens = 0;  // tokens that the model reads besides the targets
};

inline BatchSize batch_size(const models::TranslationBatch& batch) {
  return {batch.num_target_tokens(), std::ssize(batch.source.ids)};
}
inline BatchSize batch_size(const models::LanguageBatch& batch) {
  return {std::ssize(batch.next), 0};
}
inline BatchSize batch_size(const models::MaskedBatch& batch) {
  return {batch.num_hidden(), std::ssize(batch.input.ids)};
}
inline BatchSize batch_size(const models::ClassifierBatch& batch) {
  return {batch.num_lines(), std::ssize(batch.input.ids)};
}
inline BatchSize batch_size(const models::ImageBatch& batch) {
  return {batch.num_images(), batch.patches.dim(0)};
}

// A model has visit_parameters(visitor) and loss(batch, context), which returns the sum of the loss
// as a Tensor, or a struct with `loss` and `negative_log_likelihood`. Batches of other types than
// those above come with a function batch_size(batch) in their namespace.
template <typename Model, typename Batch>
class ModelTask : public Task {
 public:
  void visit_parameters(nn::ParameterVisitor& visitor) override {
    model_->visit_parameters(visitor);
  }
  std::vector<std::string> labels() const override {
    if constexpr (has_config) return model_->config().labels;
    return {};
  }
  BatchLoss loss(Index epoch, Index number, nn::ForwardContext& context) override {
    const Batch& batch = training_batch(epoch, number);
    return with_size(model_->loss(batch, context), batch);
  }
  BatchLoss validation_loss(Index number, nn::ForwardContext& context) const override {
    const Batch& batch = validation_batch(number);
    return with_size(model_->loss(batch, context), batch);
  }

  // A model that is none of ours is saved as its weights alone.
  void save_model(const std::string& folder) const override {
    if constexpr (requires { models::save_model_folder(folder, *model_, *tokenizer_); }) {
      if (tokenizer_) return models::save_model_folder(folder, *model_, *tokenizer_);
    } else if constexpr (requires { models::save_model_folder(folder, *model_); }) {
      return models::save_model_folder(folder, *model_);
    }
    if constexpr (has_config) {
      io::write_file_atomically(folder + "/config.json", models::to_json(model_->config()));
    }
    models::save_weights(folder, models::parameters(*model_));
  }
  void save_tokenizer(const std::string& folder) const override {
    if (tokenizer_) models::save_tokenizer(folder, *tokenizer_);
  }

 protected:
  static constexpr bool has_config = requires(const Model& model) { model.config().labels; };

  virtual Batch training_batch(Index epoch, Index number) = 0;
  virtual Batch validation_batch(Index number) const = 0;

  template <typename ModelLoss>
  static BatchLoss with_size(ModelLoss result, const Batch& batch) {
    const BatchSize size = batch_size(batch);
    if constexpr (std::is_same_v<ModelLoss, Tensor>) {
      const double value = result.item();
      return {std::move(result), value, size.num_targets, size.num_source_tokens};
    } else {
      return {std::move(result.loss), result.negative_log_likelihood, size.num_targets,
              size.num_source_tokens};
    }
  }

  // With random weights. Refuses (ErrorKind::failed) a model that is too large for the memory.
  void make_model(const Recipe& recipe) {
    require_memory_for(recipe.model, recipe.training);
    model_.emplace(recipe.model, recipe.training.seed);
  }

  // Of tasks whose examples are lines; `validation` may be null.
  DataSummary line_summary(const data::LineCorpus& training,
                           const data::LineCorpus* validation) const {
    DataSummary summary;
    summary.vocabulary = tokenizer_->size();
    summary.examples = "lines";
    summary.num_examples = training.size();
    summary.num_blank = training.num_blank();
    summary.num_too_long = training.num_too_long();
    if (validation) {
      summary.num_valid_examples = validation->size();
      summary.num_valid_left_out = validation->num_blank() + validation->num_too_long();
    }
    return summary;
  }

  std::optional<Model> model_;
  std::optional<text::Tokenizer> tokenizer_;  // images have none
};

}  // namespace heed::train
