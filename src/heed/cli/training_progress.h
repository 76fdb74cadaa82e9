// Progress of a training run: a bar on a terminal, a line at intervals elsewhere.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>

#include "heed/train/training.h"

namespace heed::cli {

struct ProgressOptions {
  bool is_terminal = false;
  bool quiet = false;                 // only warnings, what was left out, and the end
  double seconds_between_lines = 15;  // without a terminal
  bool shows_data = true;             // how the data was understood, when a run is started
};

// Encoder and decoder, where a model has both: 6+6.
std::string layers_text(const models::TransformerConfig& model);

// A score as tables name it, BLEU, and its value: percentages with two decimals, shares with four.
std::string score_label(std::string_view name);
std::string score_value(const train::Score& score);

// What an interrupted run leaves, on one line. `how` resumes it.
std::string interruption_text(const train::TrainingResult& result,
                              std::string_view how = "the same command again");

// Also stops the run when a signal has arrived (see InterruptGuard).
class TrainingProgress : public train::TrainingObserver {
 public:
  TrainingProgress(std::ostream& log, const ProgressOptions& options);

  bool should_stop() override;
  void on_warning(const std::string& message) override;
  void on_start(const train::RunStart& start) override;
  void on_recipe(const train::Recipe& recipe) override;
  void on_plan(const train::RunPlan& plan) override;
  void on_update(const train::UpdateReport& report) override;
  void on_validation_start(Index update) override;
  void on_validation(const train::ValidationReport& report) override;
  void on_rollback(const train::RollbackReport& report) override;
  void on_finish(train::RunEnd end) override;

 private:
  void show_data(const train::DataSummary& data);
  void show(const train::UpdateReport& report);
  void replace_bar(const std::string& line);
  void clear_bar();
  double tokens_per_second() const;
  std::string time_left(const train::UpdateReport& report) const;

  std::ostream& log_;
  ProgressOptions options_;
  std::string recipe_;  // to be shown with the start of the run
  // Since the last line.
  std::chrono::steady_clock::time_point last_shown_;
  Index tokens_ = 0;
  // Since this process began to train.
  double first_seconds_ = -1;
  double first_share_ = 0;
  double last_seconds_ = 0;
  double seconds_of_last_line_ = 0;
  bool has_bar_ = false;
};

}  // namespace heed::cli
