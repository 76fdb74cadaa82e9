#include "heed/train/early_stopping.h"

#include <cassert>

namespace heed::train {

bool EarlyStopping::observe(double loss, std::optional<double> bleu) {
  if (metric_ == StoppingMetric::none) return true;
  assert(metric_ == StoppingMetric::loss || bleu.has_value());
  const bool is_loss = metric_ == StoppingMetric::loss;
  const double value = is_loss ? loss : *bleu;
  // Written so that a value that is not a number never counts as better.
  const bool is_better = !state.best || (is_loss ? value < *state.best : value > *state.best);
  if (is_better) state.best = value;
  state.validations_without_gain = is_better ? 0 : state.validations_without_gain + 1;
  return is_better;
}

}  // namespace heed::train
