// Early stopping: ends a run whose validation loss or score no longer improves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/index.h"
#include "heed/train/training_observer.h"

namespace heed::train {

class EarlyStopping {
 public:
  // Stops after `patience` validations in a row without a new best; never for `none`.
  EarlyStopping(std::string metric, Index patience)
      : metric_(std::move(metric)), patience_(patience) {}

  // Part of a checkpoint.
  struct State {
    std::optional<double> best;
    Index validations_without_gain = 0;
  };
  State state;

  // True when this is the best so far; always for `none`. Lower is better for loss and mse, higher
  // for other scores. Refuses (ErrorKind::usage) a report without the score.
  bool observe(const ValidationReport& report);
  bool is_exhausted() const {
    return metric_ != "none" && state.validations_without_gain >= patience_;
  }

 private:
  std::string metric_;
  Index patience_;
};

// Refuses (ErrorKind::usage) a metric other than none, loss and the task's own scores; and any but
// none without validation data. `validation_files` names these in the message. A score is written
// as in metrics.jsonl, or with dashes: macro_f1 or macro-f1.
void check_early_stopping(std::string_view metric, std::span<const std::string> scores,
                          bool has_validation, std::string_view validation_files);

}  // namespace heed::train
