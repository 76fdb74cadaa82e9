// Reports of a training run, and the interface of those that receive them, such as a progress bar.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed::train {

struct Recipe;

struct UpdateReport {
  Index update = 0;            // from 1
  Index epoch = 0;             // from 0
  double loss = 0;             // per target token, label-smoothed
  double likelihood_loss = 0;  // per target token, -log p
  double learning_rate = 0;
  double gradient_norm = 0;  // before clipping
  Index target_tokens = 0;   // of this update
  Index source_tokens = 0;
  bool is_applied = true;    // false: loss or gradient was not finite
  std::string problem = {};  // then: which gradients were not finite, and what was in the batches
  double seconds = 0;        // training time since the run was started
  double share_done = 0;     // estimate of how much of the run is done, 0 to 1
};

// The model's output for a validation example, and the reference; of a language model, generated
// text without source and reference.
struct Sample {
  std::string source, output, reference;
};

// A validation score by its name in metrics.jsonl, like bleu or macro_f1. Higher is better, except
// for mse.
struct Score {
  std::string name;
  double value = 0;
};

// Scores of the weights that would be saved as the model.
struct ValidationReport {
  Index update = 0;
  Index epoch = 0;
  double loss = 0;  // mean of -log p, per target token or per labelled example
  double perplexity = 0;
  std::vector<Score> scores;  // those of text in percent, others are numbers
  double latest_loss = 0;     // loss of the latest weights, which may differ from the averaged ones
  bool is_average = false;    // the averaged weights had the lower loss
  bool is_best = true;        // the best so far, for early stopping
  std::vector<Sample> samples;
  double seconds = 0;

  std::optional<double> score(std::string_view name) const {
    for (const Score& one : scores) {
      if (one.name == name) return one.value;
    }
    return std::nullopt;
  }
};

struct DataExample {
  std::string input, output;  // of a line alone, the output is empty
};

struct ClassCount {
  std::string label;
  Index count = 0;
};

// In tokens, the end token included, of all examples that are not blank.
struct LengthSummary {
  std::string what;  // source, target, text
  Index median = 0, percentile_95 = 0, max = 0;
};

// The data of a task, as it was understood.
struct DataSummary {
  Index vocabulary = 0;              // 0 for images
  std::string examples = "batches";  // what the examples are: pairs, lines, images ...
  Index num_examples = 0;
  Index num_blank = 0;     // left out because there is nothing in them
  Index num_too_long = 0;  // left out because they are too long
  Index num_truncated = 0;
  Index max_length_for_99 = 0;  // would leave out 1 % of the examples at most; 0: unknown
  Index num_valid_examples = 0;
  Index num_valid_left_out = 0;
  std::vector<std::string> columns = {};  // of files of records: what each column was taken for
  std::vector<DataExample> samples = {};  // the first examples
  std::vector<ClassCount> classes = {};   // the most frequent first
  std::vector<LengthSummary> lengths = {};
  std::vector<std::string> warnings = {};  // signs that something is wrong with the data
};

// Reported before the first update.
struct RunStart {
  DataSummary data;
  Index num_parameters = 0;
  Index update = 0;  // above 0: the run is resumed after this update
};

// What the run will look like, reported once its first updates have been timed.
struct RunPlan {
  Index updates = 0;      // of the whole run
  double seconds = 0;     // that it takes, those before a resumption included
  double epochs = 0;      // passes over the data
  double peak_rate = 0;   // highest learning rate
  Index peak_update = 0;  // where it has that
};

// A run that diverged continues from its last good checkpoint, with a smaller step.
struct RollbackReport {
  std::string reason;
  Index update = 0;       // the last one before the rollback
  Index restored = 0;     // the update of the checkpoint
  double rate_scale = 1;  // the learning rate is multiplied by it from here on
};

enum class RunEnd { finished, stopped_early, interrupted };

// Does nothing unless overridden.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  // Called while a run prepares, between two updates, during validations and while a full disk is
  // waited for: true makes it save and return.
  virtual bool should_stop() { return false; }
  virtual void on_warning(const std::string& /*message*/) {}
  virtual void on_recipe(const Recipe&) {}  // chosen for the data
  virtual void on_start(const RunStart&) {}
  virtual void on_plan(const RunPlan&) {}
  virtual void on_update(const UpdateReport&) {}
  virtual void on_validation_start(Index /*update*/) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_rollback(const RollbackReport&) {}
  virtual void on_finish(RunEnd) {}
};

}  // namespace heed::train
