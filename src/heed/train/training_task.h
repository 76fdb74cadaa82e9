// What a run trains, and on what. The training loop knows tasks by this alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heed/models/transformer_config.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/module.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// Long work asks now and then whether to go on; then it gives up and returns nothing.
using ShouldStop = std::function<bool()>;

struct BatchLoss {
  Tensor loss;                         // [], the sum over what the batch predicts; recorded
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing
  Index num_targets = 0;               // predictions: tokens of the target, or labels
  Index num_source_tokens = 0;         // what was read besides them
};

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual const models::TransformerConfig& config() const = 0;
  virtual void visit_parameters(nn::ParameterVisitor& visitor) = 0;
  // Those that are trained.
  virtual std::vector<nn::NamedTensor> parameters() { return nn::named_parameters(*this); }
  // What a run that stands at this update of this epoch works on.
  virtual RunStart run_start(Index epoch, Index update) = 0;

  // The batches of an epoch: a function of the recipe and of the epoch, the same for resumed runs.
  virtual Index num_batches(Index epoch) = 0;
  virtual BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) = 0;

  virtual bool has_validation() const = 0;
  // The mean of -log p over the held-out data; does not depend on the number of threads.
  virtual std::optional<double> validation_loss(const ShouldStop& should_stop) const = 0;
  // What else is worth knowing of the model as it is: scores and samples. False: stopped.
  virtual bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const = 0;

  // Writes the model as it is, ready for use.
  virtual void save_model(const std::string& folder) const = 0;
  // What a run needs to go on, and no checkpoint holds: the tokenizer.
  virtual void save_vocabulary(const std::string& folder) const = 0;
};

}  // namespace heed::train
