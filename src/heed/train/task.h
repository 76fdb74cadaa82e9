// A training task: its data, its model, its loss and its scores. The training loop uses this
// interface alone.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/nn/forward_context.h"
#include "heed/nn/module.h"
#include "heed/train/data_size.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// Long work calls this now and then; true makes it return early.
using ShouldStop = std::function<bool()>;

struct BatchLoss {
  Tensor loss;                         // [], the sum over all targets of the batch
  double negative_log_likelihood = 0;  // the sum of -log p, without label smoothing
  Index num_targets = 0;               // predictions: target tokens, or examples with a label
  Index num_source_tokens = 0;         // tokens that the model reads besides the targets
};

// The constructor of a task reads its files; prepare() does the slow rest.
class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // A hash of all training and validation data: a run resumes with the same data only.
  virtual std::string data_hash() const = 0;
  // For a recipe that is chosen after the data is read: its size, or nothing if the task has only
  // one recipe, and that recipe, before prepare().
  virtual std::optional<DataSize> data_size() const { return std::nullopt; }
  virtual void set_recipe(const Recipe&) {}
  // Tokenizes the data and builds the model with random weights. The tokenizer is that of the model
  // folder; a new one is trained when the name is empty. What follows needs a prepared task.
  virtual void prepare(const std::string& /*tokenizer_folder*/) {}

  virtual void visit_parameters(nn::ParameterVisitor& visitor) = 0;
  virtual std::vector<std::string> labels() const { return {}; }  // classes of the model's head
  virtual DataSummary summary() const = 0;

  // Batches of an epoch: a function of the recipe and the epoch alone, so that a resumed run sees
  // the batches of an uninterrupted one.
  virtual Index num_batches(Index epoch) = 0;
  virtual BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) = 0;
  // Per target. A loss beyond it means that the weights are lost, although it may still be finite.
  virtual double max_loss() const { return std::numeric_limits<double>::infinity(); }
  // The memory that the loss of a batch takes at least, until its backward pass; 0: unknown.
  virtual Index activation_bytes(Index /*epoch*/, Index /*batch*/) { return 0; }
  // Where the examples of a batch are in the data, for messages: "lines 12, 845, 90".
  virtual std::string describe_batch(Index epoch, Index batch);

  virtual Index num_validation_batches() const = 0;  // 0: no validation data
  virtual BatchLoss validation_loss(Index batch, nn::ForwardContext& context) const = 0;
  // Scores of the model besides the validation loss, and samples. False: stopped.
  virtual bool add_scores(ValidationReport& /*report*/, const ShouldStop& /*should_stop*/) const {
    return true;
  }

  // Writes a model folder, ready for inference.
  virtual void save_model(const std::string& folder) const = 0;
  // A resumed run needs it besides its checkpoint.
  virtual void save_tokenizer(const std::string& folder) const = 0;
  virtual std::vector<std::string> tokenizer_files() const { return {}; }  // that it writes
};

// "a, b, c and 12 more".
std::string list_some(std::span<const std::string> items, std::size_t max_listed);
// "lines 12, 845, 90 and 13 more". The places count from 0, the text from 1.
std::string list_places(std::string_view what, std::span<const Index> places);

}  // namespace heed::train
