// Who watches a training run: a progress bar, a log, the explorer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::train {

struct UpdateReport {
  Index update = 0;            // from 1
  Index epoch = 0;             // from 0
  double loss = 0;             // per target token, label-smoothed
  double likelihood_loss = 0;  // per target token, -log p
  double learning_rate = 0;
  double gradient_norm = 0;  // before clipping
  Index target_tokens = 0;   // of this update
  Index source_tokens = 0;
  bool is_applied = true;  // false: loss or gradient was not finite
  double seconds = 0;      // since the run began, breaks not counted
  double share_done = 0;   // of the whole run, 0 to 1, as far as one can tell
};

// What the model makes of some held-out source, and what it should; a language model, which just
// writes, has neither source nor reference.
struct Sample {
  std::string source, output, reference;
};

// Of the weights that the model folder would get.
struct ValidationReport {
  Index update = 0;
  Index epoch = 0;
  double loss = 0;  // per target token, or per line with a class, -log p
  double perplexity = 0;
  std::optional<double> bleu;
  std::optional<double> accuracy;  // of classes, 0 to 1
  std::optional<double> macro_f1;
  double latest_loss = 0;   // the same loss of the latest weights, when the others are averages
  bool is_average = false;  // whether averaged weights did better than the latest
  bool is_best = true;      // of this run, for early stopping
  std::vector<Sample> samples;
  double seconds = 0;
};

// What a run works on, before its first update.
struct RunStart {
  Index num_parameters = 0;
  Index vocabulary = 0;
  std::string examples = "pairs";  // what they are called
  Index num_examples = 0;
  Index num_blank = 0;     // left out because there is nothing in them
  Index num_too_long = 0;  // left out because they are too long
  Index num_valid_examples = 0;
  Index num_valid_left_out = 0;
  Index update = 0;  // above 0: goes on after this update
};

enum class RunEnd { finished, stopped_early, interrupted };

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  // Asked between two updates and during validations: true makes the run save and leave.
  virtual bool should_stop() { return false; }
  virtual void on_start(const RunStart&) {}
  virtual void on_update(const UpdateReport&) {}
  virtual void on_validation_start(Index /*update*/) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_finish(RunEnd) {}
};

}  // namespace heed::train
