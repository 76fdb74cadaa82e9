#include "heed/cli/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "heed/base/interrupt.h"

namespace heed::cli {
namespace {

using std::chrono::steady_clock;

constexpr double seconds_between_bars = 0.2;
constexpr int bar_width = 8;
constexpr std::size_t terminal_width = 80;  // a longer line would wrap, and not be replaced

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) c == '\n' ? line.append("\u23ce ") : line.append(1, c);
  return line;
}

std::string bar(double share) {
  const int filled = std::clamp(static_cast<int>(share * bar_width), 0, bar_width);
  return '[' + std::string(filled, '=') + std::string(bar_width - filled, ' ') + ']';
}

}  // namespace

std::string interruption_text(const train::TrainingResult& result, std::string_view how) {
  if (!result.is_saved) return "interrupted before its first update; nothing was written";
  return fmt::format("interrupted after update {}; {} resumes the run", result.update, how);
}

TrainingProgress::TrainingProgress(std::ostream& log, const ProgressOptions& options)
    : log_(log), options_(options), last_shown_(steady_clock::now()) {}

bool TrainingProgress::should_stop() { return interrupt_signal() != 0; }

void TrainingProgress::on_start(const train::RunStart& start) {
  const train::DataSummary& data = start.data;
  if (data.num_blank + data.num_too_long + data.num_valid_left_out > 0) {
    log_ << fmt::format("left out: {} blank {}, {} that are too long; {} of those to validate\n",
                        data.num_blank, data.examples, data.num_too_long, data.num_valid_left_out);
  }
  if (options_.quiet) return;
  const std::string pieces =
      data.vocabulary > 0 ? fmt::format("{} pieces, ", data.vocabulary) : std::string();
  log_ << fmt::format("{} {} to train on, {} to validate; {}{} parameters\n", data.num_examples,
                      data.examples, data.num_valid_examples, pieces, start.num_parameters);
  if (start.update > 0) log_ << fmt::format("resuming after update {}\n", start.update);
  log_.flush();
}

void TrainingProgress::on_plan(const train::RunPlan& plan) {
  if (options_.quiet) return;
  clear_bar();
  log_ << fmt::format(
      "plan: about {} updates in {}, {:.3g} epochs; peak learning rate {:.3g} at update {}\n",
      plan.updates, clock_text(plan.seconds), plan.epochs, plan.peak_rate, plan.peak_update);
  log_.flush();
}

void TrainingProgress::on_update(const train::UpdateReport& report) {
  if (first_seconds_ < 0) {
    first_seconds_ = seconds_of_last_line_ = report.seconds;
    first_share_ = report.share_done;
  } else {
    // The first update only starts the clock: it may have paid for the warming of caches.
    // The larger of source and target, as in the size of a batch.
    tokens_ += std::max(report.source_tokens, report.target_tokens);
  }
  last_seconds_ = report.seconds;
  if (!report.is_applied) {
    clear_bar();
    log_ << fmt::format("update {} skipped: {}\n", report.update, report.problem);
  }
  const std::chrono::duration<double> waited = steady_clock::now() - last_shown_;
  const double pause = options_.is_terminal ? seconds_between_bars : options_.seconds_between_lines;
  if (!options_.quiet && waited.count() >= pause) show(report);
}

void TrainingProgress::show(const train::UpdateReport& report) {
  const std::string line = fmt::format(
      "epoch {} update {}  loss {:.3f}  {:.0f} tokens/s  rate {:.5f}  {}", report.epoch + 1,
      report.update, report.loss, tokens_per_second(), report.learning_rate, time_left(report));
  if (options_.is_terminal) {
    replace_bar(bar(report.share_done) + ' ' + line);
  } else {
    log_ << line << std::endl;
    tokens_ = 0;
    seconds_of_last_line_ = report.seconds;
  }
  last_shown_ = steady_clock::now();
}

double TrainingProgress::tokens_per_second() const {
  const double seconds = last_seconds_ - seconds_of_last_line_;
  return seconds > 0 ? static_cast<double>(tokens_) / seconds : 0;
}

std::string TrainingProgress::time_left(const train::UpdateReport& report) const {
  const double done = report.share_done - first_share_;
  if (done <= 0) return "";
  const double seconds = report.seconds - first_seconds_;
  return clock_text(seconds / done * (1 - report.share_done)) + " left";
}

void TrainingProgress::on_validation_start(Index update) {
  if (!options_.is_terminal || options_.quiet) return;
  replace_bar(fmt::format("validating after update {} ...", update));
}

void TrainingProgress::on_validation(const train::ValidationReport& report) {
  // Validation is no training: its time does not count for the speed.
  tokens_ = 0;
  seconds_of_last_line_ = last_seconds_ = report.seconds;
  if (options_.quiet) return;
  clear_bar();
  log_ << fmt::format("validation  update {}  loss {:.3f}", report.update, report.loss);
  if (report.accuracy) {
    log_ << fmt::format("  accuracy {:.4f}", *report.accuracy);
  } else {
    log_ << fmt::format("  perplexity {:.2f}", report.perplexity);
  }
  if (report.macro_f1) log_ << fmt::format("  macro-F1 {:.4f}", *report.macro_f1);
  if (report.bleu) log_ << fmt::format("  BLEU {:.2f}", *report.bleu);
  if (report.is_average) log_ << fmt::format("  (averaged; latest {:.3f})", report.latest_loss);
  log_ << fmt::format("  {}\n", clock_text(report.seconds));
  for (const train::Sample& sample : report.samples) {
    if (!sample.source.empty()) log_ << "  " << on_one_line(sample.source) << '\n';
    log_ << "    = " << on_one_line(sample.output) << '\n';
    if (!sample.reference.empty()) log_ << "    : " << on_one_line(sample.reference) << '\n';
  }
  log_.flush();
}

void TrainingProgress::on_rollback(const train::RollbackReport& report) {
  on_warning(fmt::format("{}; resuming from update {} with {} of the learning rate", report.reason,
                         report.restored, report.rate_scale));
}

void TrainingProgress::on_warning(const std::string& message) {
  clear_bar();
  log_ << "warning: " << message << std::endl;
}

void TrainingProgress::on_finish(train::RunEnd end) {
  clear_bar();
  if (!options_.quiet && end == train::RunEnd::stopped_early) {
    log_ << "stopped early: the validation no longer gets better\n";
  }
  log_.flush();
}

void TrainingProgress::replace_bar(const std::string& line) {
  log_ << '\r' << line.substr(0, terminal_width - 1) << "\x1b[K" << std::flush;
  has_bar_ = true;
}

void TrainingProgress::clear_bar() {
  if (has_bar_) log_ << "\r\x1b[K";
  has_bar_ = false;
}

}  // namespace heed::cli
