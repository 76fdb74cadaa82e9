// The base class of tasks with a model: parameters, losses of batches, and the model folder.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/models/model_folder.h"
#include "heed/nn/module.h"
#include "heed/text/tokenizer.h"
#include "heed/train/task.h"

namespace heed::models {
struct ClassifierBatch;
struct ImageBatch;
struct LanguageBatch;
struct MaskedBatch;
struct TaggerBatch;
struct TranslationBatch;
}  // namespace heed::models

namespace heed::train {

struct BatchSize {
  Index num_targets = 0;        // what the sum of the loss is divided by
  Index num_source_tokens = 0;  // tokens that the model reads besides the targets
};

BatchSize batch_size(const models::TranslationBatch& batch);
BatchSize batch_size(const models::LanguageBatch& batch);
BatchSize batch_size(const models::MaskedBatch& batch);
BatchSize batch_size(const models::ClassifierBatch& batch);
BatchSize batch_size(const models::ImageBatch& batch);
BatchSize batch_size(const models::TaggerBatch& batch);

// What the forward pass keeps at least (memory_need.h, which is not installed).
Index activation_bytes(const models::TransformerConfig& model, Index num_source_tokens,
                       Index num_target_tokens);

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
    const Batch batch = training_batch(epoch, number);
    return with_size(model_->loss(batch, context), batch);
  }
  // In nats. A model that guesses has the logarithm of the vocabulary, less than 14.
  double max_loss() const override { return has_config ? 1000 : Task::max_loss(); }
  Index activation_bytes(Index epoch, Index number) override {
    if constexpr (has_config) {
      const BatchSize size = batch_size(training_batch(epoch, number));
      return train::activation_bytes(model_->config(), size.num_source_tokens, size.num_targets);
    }
    return 0;
  }
  BatchLoss validation_loss(Index number, nn::ForwardContext& context) const override {
    const Batch batch = validation_batch(number);
    return with_size(model_->loss(batch, context), batch);
  }

  // A model of the user is saved as its weights alone, one of ours without a tokenizer with its
  // configuration.
  void save_model(const std::string& folder) const override {
    if constexpr (requires { models::save_model_folder(folder, *model_, *tokenizer_); }) {
      if (tokenizer_) return models::save_model_folder(folder, *model_, *tokenizer_);
    } else if constexpr (requires { models::save_model_folder(folder, *model_); }) {
      return models::save_model_folder(folder, *model_);
    }
    if constexpr (has_config) models::save_config(folder, model_->config());
    Model shared = *model_;  // visit_parameters is not const
    models::save_weights(folder, nn::named_parameters(shared));
  }
  void save_tokenizer(const std::string& folder) const override {
    if (tokenizer_) models::save_tokenizer(folder, *tokenizer_);
  }
  std::vector<std::string> tokenizer_files() const override {
    std::vector<std::string> names;
    if (!tokenizer_) return names;
    for (const auto& [name, bytes] : tokenizer_->files()) names.push_back(name);
    return names;
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

  std::optional<Model> model_;
  std::optional<text::Tokenizer> tokenizer_;  // images have none
};

}  // namespace heed::train
