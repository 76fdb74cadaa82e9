// Early stopping: ends a run whose validation loss or score no longer improves.
#pragma once

#include <optional>
#include <string_view>

#include "heed/base/index.h"
#include "heed/train/recipe.h"

namespace heed::train {

class EarlyStopping {
 public:
  // Stops after `patience` validations in a row without a new best; never for `none`.
  EarlyStopping(StoppingMetric metric, Index patience) : metric_(metric), patience_(patience) {}

  // Part of a checkpoint.
  struct State {
    std::optional<double> best;
    Index validations_without_gain = 0;
  };
  State state;

  // True when this is the best so far; always for `none`. Lower is better for loss, higher for the
  // score: BLEU or accuracy.
  bool observe(double loss, std::optional<double> score);
  bool is_exhausted() const {
    return metric_ != StoppingMetric::none && state.validations_without_gain >= patience_;
  }

 private:
  StoppingMetric metric_;
  Index patience_;
};

// Refuses (ErrorKind::usage) a metric other than none, loss and the task's own score, if it has
// one; and any but none without validation data. `validation_files` names these in the message.
void check_early_stopping(StoppingMetric metric, std::optional<StoppingMetric> score,
                          bool has_validation, std::string_view validation_files);

}  // namespace heed::train
