#include "heed/train/early_stopping.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <string>

#include "heed/base/error.h"

namespace heed {

template <>
std::span<const Choice<train::StoppingMetric>> choices() {
  using train::StoppingMetric;
  static constexpr std::array all{
      Choice{"none", StoppingMetric::none}, Choice{"loss", StoppingMetric::loss},
      Choice{"bleu", StoppingMetric::bleu}, Choice{"accuracy", StoppingMetric::accuracy}};
  return all;
}

}  // namespace heed

namespace heed::train {

bool EarlyStopping::observe(double loss, std::optional<double> score) {
  if (metric_ == StoppingMetric::none) return true;
  assert(metric_ == StoppingMetric::loss || score.has_value());
  const bool is_loss = metric_ == StoppingMetric::loss;
  const double value = is_loss ? loss : *score;
  // Written so that a value that is not a number never counts as better.
  const bool is_better = !state.best || (is_loss ? value < *state.best : value > *state.best);
  if (is_better) state.best = value;
  state.validations_without_gain = is_better ? 0 : state.validations_without_gain + 1;
  return is_better;
}

void check_early_stopping(StoppingMetric metric, std::optional<StoppingMetric> score,
                          bool has_validation, std::string_view validation_files) {
  if (metric == StoppingMetric::none) return;
  check_as(ErrorKind::usage, has_validation, "`early_stopping`: expected ", validation_files,
           ", found none");
  const std::string allowed =
      score ? fmt::format("none, loss or {}", name_of(*score)) : "none or loss";
  check_as(ErrorKind::usage, metric == StoppingMetric::loss || metric == score,
           "`early_stopping`: expected ", allowed, " for this task, found ", name_of(metric));
}

}  // namespace heed::train
