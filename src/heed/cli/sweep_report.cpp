#include "heed/cli/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "heed/cli/training_progress.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;
using train::SweepOutcome;
using train::SweepResult;
using train::SweepRun;
using Row = std::vector<std::string>;

// The scores of all runs, in the order of the first run that has them.
std::vector<std::string> score_names(const SweepOutcome& outcome) {
  std::vector<std::string> names;
  for (const SweepResult& result : outcome.results) {
    if (!result.log.validation) continue;
    for (const train::Score& score : result.log.validation->scores) {
      if (std::ranges::count(names, score.name) == 0) names.push_back(score.name);
    }
  }
  return names;
}

Row heading(const SweepRun& run, const std::vector<std::string>& scores) {
  Row row{""};
  for (const auto& [setting, value] : run.settings) row.push_back(setting);
  row.push_back("loss");
  for (const std::string& name : scores) row.push_back(score_label(name));
  row.insert(row.end(), {"updates", "minutes"});
  return row;
}

bool is_comparable(const SweepResult& result) {
  return result.problem.empty() && result.log.validation;
}

std::string score_cell(const SweepResult& result, const std::string& name) {
  if (!is_comparable(result)) return "";
  const std::vector<train::Score>& scores = result.log.validation->scores;
  const auto score = std::ranges::find(scores, name, &train::Score::name);
  return score == scores.end() ? "" : score_value(*score);
}

Row row_of(const SweepRun& run, const SweepResult& result, const std::vector<std::string>& scores,
           bool is_best) {
  Row row{is_best ? "*" : ""};
  for (const auto& [setting, value] : run.settings) row.push_back(value);
  row.push_back(is_comparable(result) ? fmt::format("{:.4f}", result.log.validation->loss)
                                      : "diverged");
  for (const std::string& name : scores) row.push_back(score_cell(result, name));
  row.insert(row.end(),
             {std::to_string(result.log.updates), fmt::format("{:.1f}", result.log.seconds / 60)});
  return row;
}

// Columns as wide as their widest cell, right-aligned.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("{}{:>{}}", i > 0 ? "  " : "", row[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json object_of(const SweepRun& run, const SweepResult& result, bool is_best) {
  Json settings = Json::object();
  for (const auto& [setting, value] : run.settings) settings[setting] = value;
  Json object{{"settings", settings},
              {"folder", run.training.model_folder},
              {"best", is_best},
              {"diverged", !is_comparable(result)},
              {"updates", result.log.updates},
              {"minutes", result.log.seconds / 60}};
  if (!is_comparable(result)) return object;
  object["weights"] = result.weights_hash;
  object["loss"] = number(result.log.validation->loss);
  for (const train::Score& score : result.log.validation->scores) {
    object[score.name] = number(score.value);
  }
  return object;
}

}  // namespace

std::string settings_text(const SweepRun& run) {
  std::string text;
  for (const auto& [setting, value] : run.settings) {
    text.append(text.empty() ? "" : ", ").append(setting).append("=").append(value);
  }
  return text;
}

std::string sweep_table(std::span<const SweepRun> runs, const SweepOutcome& outcome) {
  const std::vector<std::string> scores = score_names(outcome);
  std::vector<Row> rows{heading(runs.front(), scores)};
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    rows.push_back(row_of(runs[i], outcome.results[i], scores, i == outcome.best));
  }
  std::string table = aligned(rows);
  if (!outcome.best) return table;
  const SweepRun& best = runs[*outcome.best];
  return table + fmt::format("best by {}: {}\n", train::sweep_measure(best.training.recipe),
                             best.training.model_folder);
}

std::string sweep_json(std::span<const SweepRun> runs, const SweepOutcome& outcome) {
  std::string lines;
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    lines += object_of(runs[i], outcome.results[i], i == outcome.best)
                 .dump(-1, ' ', false, Json::error_handler_t::replace) +
             '\n';
  }
  return lines;
}

}  // namespace heed::cli
