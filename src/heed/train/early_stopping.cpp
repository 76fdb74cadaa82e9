#include "heed/train/early_stopping.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"

namespace heed::train {
namespace {

std::string with(std::string_view text, char from, char to) {
  std::string copy(text);
  std::ranges::replace(copy, from, to);
  return copy;
}

// "none, loss, bleu or exact-match"
std::string allowed_metrics(std::span<const std::string> scores) {
  std::vector<std::string> names{"none", "loss"};
  for (const std::string& score : scores) names.push_back(with(score, '_', '-'));
  std::string list = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    list.append(i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  return list;
}

// An error, where all other scores are shares.
bool is_lower_better(std::string_view metric) { return metric == "loss" || metric == "mse"; }

}  // namespace

bool EarlyStopping::observe(const ValidationReport& report) {
  if (metric_ == "none") return true;
  const bool is_loss = metric_ == "loss";
  const std::optional<double> found = is_loss ? report.loss : report.score(with(metric_, '-', '_'));
  check_as(ErrorKind::usage, found.has_value(), "`early_stopping`: expected none, loss or a score ",
           "of this task, found ", metric_);
  const double value = *found;
  // Written so that a value that is not a number never counts as better.
  const bool is_better =
      !state.best || (is_lower_better(metric_) ? value < *state.best : value > *state.best);
  if (is_better) state.best = value;
  state.validations_without_gain = is_better ? 0 : state.validations_without_gain + 1;
  return is_better;
}

void check_early_stopping(std::string_view metric, std::span<const std::string> scores,
                          bool has_validation, std::string_view validation_files) {
  if (metric == "none") return;
  const bool is_known =
      metric == "loss" || std::ranges::find(scores, with(metric, '-', '_')) != scores.end();
  check_as(ErrorKind::usage, is_known, "`early_stopping`: expected ", allowed_metrics(scores),
           " for this task, found ", metric);
  check_as(ErrorKind::usage, has_validation, "`early_stopping`: expected ", validation_files,
           ", found none");
}

}  // namespace heed::train
