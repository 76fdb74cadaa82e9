// Stops a run that no longer gets better on validation data.
#pragma once

#include <optional>

#include "heed/base/index.h"

namespace heed::train {

enum class StoppingMetric { none, loss, bleu };

class EarlyStopping {
 public:
  // Stops after `patience` validations in a row without a new best; never for `none`.
  EarlyStopping(StoppingMetric metric, Index patience) : metric_(metric), patience_(patience) {}

  // What a checkpoint keeps.
  struct State {
    std::optional<double> best;
    Index validations_without_gain = 0;
  };
  State state;

  // True when this is the best so far; always for `none`. Lower is better for loss, higher for
  // BLEU.
  bool observe(double loss, std::optional<double> bleu);
  bool is_exhausted() const {
    return metric_ != StoppingMetric::none && state.validations_without_gain >= patience_;
  }

 private:
  StoppingMetric metric_;
  Index patience_;
};

}  // namespace heed::train
