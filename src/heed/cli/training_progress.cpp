#include "heed/cli/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "heed/base/interrupt.h"
#include "heed/base/printable.h"

namespace heed::cli {
namespace {

using std::chrono::steady_clock;

constexpr double seconds_between_bars = 0.2;
constexpr int bar_width = 8;
constexpr std::size_t sample_bytes = 70;    // of a text of an example
constexpr std::size_t terminal_width = 80;  // a longer line would wrap, and not be replaced

std::string clock_text(double seconds) {
  const auto whole = std::lround(seconds);
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

// "`max_length`" as it is written on the command line.
std::string with_options(std::string message) {
  for (std::size_t open; (open = message.find('`')) != message.npos;) {
    const std::size_t close = message.find('`', open + 1);
    if (close == message.npos) break;
    std::string name = message.substr(open + 1, close - open - 1);
    std::ranges::replace(name, '_', '-');
    message.replace(open, close + 1 - open, "--" + name);
  }
  return message;
}

// "3 classes: good 120, bad 90, so-so 4"; of many, the most frequent ones and the rarest.
std::string class_line(const std::vector<train::ClassCount>& classes) {
  constexpr std::size_t max_listed = 3;
  std::string line = fmt::format("{} classes:", classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const bool is_last = i + 1 == classes.size();
    if (i >= max_listed && !is_last) continue;
    const bool has_gap = is_last && i > max_listed;
    line += fmt::format("{} {} {}",
                        has_gap ? " ..."
                        : i > 0 ? ","
                                : "",
                        excerpt(classes[i].label), classes[i].count);
  }
  return line + '\n';
}

// With the share, and what to do if it is large.
std::string left_out(const train::DataSummary& data) {
  constexpr double much = 0.02;
  const Index count = data.num_blank + data.num_too_long;
  const auto all = static_cast<double>(data.num_examples + count);
  std::string line = fmt::format("left out: {} blank {}, {} that are too long", data.num_blank,
                                 data.examples, data.num_too_long);
  if (count > 0) line += fmt::format(" ({:.1f} %)", 100 * static_cast<double>(count) / all);
  if (static_cast<double>(data.num_too_long) > much * all && data.max_length_for_99 > 0) {
    line += fmt::format("; --max-length {} would keep 99 %", data.max_length_for_99);
  }
  return line + fmt::format("; {} of those to validate\n", data.num_valid_left_out);
}

// Of a base model of another family.
std::string fine_tuning_text(const train::Recipe& recipe) {
  const models::TransformerConfig& model = recipe.model;
  if (model.family.empty()) return "";
  const std::string lora =
      recipe.training.lora > 0 ? fmt::format("LoRA of rank {}, ", recipe.training.lora) : "";
  const std::string length =
      models::has_text(model.kind)
          ? fmt::format("examples of at most {} tokens, ", recipe.training.max_length)
          : "";
  return fmt::format(", {}{}of the {} family's layout", lora, length, model.family);
}

std::string images_text(const models::TransformerConfig& model) {
  if (models::has_text(model.kind)) return "";
  return fmt::format("; images of {} x {} in {}, patches of {} x {}", model.image_width,
                     model.image_height, model.image_channels == 1 ? "grey" : "colour",
                     model.patch_side, model.patch_side);
}

}  // namespace

std::string layers_text(const models::TransformerConfig& model) {
  if (model.encoder_layers > 0 && model.decoder_layers > 0) {
    return fmt::format("{}+{}", model.encoder_layers, model.decoder_layers);
  }
  return std::to_string(model.encoder_layers + model.decoder_layers);
}

std::string interruption_text(const train::TrainingResult& result, std::string_view how) {
  if (!result.is_saved) return "interrupted before its first update; nothing was written";
  return fmt::format("interrupted after update {}; {} resumes the run", result.update, how);
}

TrainingProgress::TrainingProgress(std::ostream& log, const ProgressOptions& options)
    : log_(log), options_(options), last_shown_(steady_clock::now()) {}

bool TrainingProgress::should_stop() { return interrupt_signal() != 0; }

void TrainingProgress::on_start(const train::RunStart& start) {
  const train::DataSummary& data = start.data;
  if (!options_.quiet && options_.shows_data && start.update == 0) show_data(data);
  if (data.num_blank + data.num_too_long + data.num_valid_left_out > 0) log_ << left_out(data);
  for (const std::string& warning : data.warnings) on_warning(with_options(warning));
  if (options_.quiet) return;
  log_ << recipe_;
  const std::string pieces =
      data.vocabulary > 0 ? fmt::format("{} pieces, ", data.vocabulary) : std::string();
  log_ << fmt::format("{} {} to train on, {} to validate; {}{} parameters\n", data.num_examples,
                      data.examples, data.num_valid_examples, pieces, start.num_parameters);
  if (start.update > 0) log_ << fmt::format("resuming after update {}\n", start.update);
  log_.flush();
}

void TrainingProgress::on_recipe(const train::Recipe& recipe) {
  const models::TransformerConfig& model = recipe.model;
  const train::TrainingOptions& training = recipe.training;
  recipe_ = fmt::format(
      "recipe: {} layers of width {}, {} heads; batches of {} tokens, learning rate {:.3g}, "
      "dropout {:.2g}{}{}{}\n",
      layers_text(model), model.model_dim, model.num_heads, training.batch_tokens,
      training.schedule.peak, model.dropout,
      training.curriculum > 0 ? fmt::format(", curriculum of {} epochs", training.curriculum) : "",
      fine_tuning_text(recipe), images_text(model));
}

void TrainingProgress::on_plan(const train::RunPlan& plan) {
  if (options_.quiet) return;
  clear_bar();
  log_ << fmt::format(
      "plan: about {} updates in {}, {:.3g} epochs; peak learning rate {:.3g} at update {}\n",
      plan.updates, clock_text(plan.seconds), plan.epochs, plan.peak_rate, plan.peak_update);
  log_.flush();
}

// What was understood, in few lines: enough to see that a column or a file is not the right one.
void TrainingProgress::show_data(const train::DataSummary& data) {
  for (const std::string& columns : data.columns) log_ << "columns: " << columns << '\n';
  for (const train::DataExample& sample : data.samples) {
    log_ << "  " << excerpt(sample.input, sample_bytes);
    if (!sample.output.empty()) log_ << " -> " << excerpt(sample.output, sample_bytes);
    log_ << '\n';
  }
  if (!data.classes.empty()) log_ << class_line(data.classes);
  for (const train::LengthSummary& length : data.lengths) {
    log_ << fmt::format("tokens of a {}: median {}, 95 % up to {}, longest {}\n", length.what,
                        length.median, length.percentile_95, length.max);
  }
  if (data.num_truncated > 0) {
    log_ << fmt::format("truncated: {} of {} {}\n", data.num_truncated, data.num_examples,
                        data.examples);
  }
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
      "epoch {} update {}  loss {:.3f}  {:.0f} tokens/s  rate {:.3g}  {}", report.epoch + 1,
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

namespace {

struct ScoreFormat {
  std::string_view name, label;
  int digits;  // after the point: percentages have two, shares four
};
constexpr ScoreFormat score_formats[]{{"bleu", "BLEU", 2},
                                      {"chrf", "chrF", 2},
                                      {"rouge1", "ROUGE-1", 2},
                                      {"rouge2", "ROUGE-2", 2},
                                      {"rougeL", "ROUGE-L", 2},
                                      {"exact_match", "exact match", 2},
                                      {"squad_exact_match", "SQuAD exact match", 2},
                                      {"squad_f1", "SQuAD F1", 2},
                                      {"macro_f1", "macro-F1", 4},
                                      {"f1", "F1", 4},
                                      {"micro_f1", "micro-F1", 4},
                                      {"subset_accuracy", "subset accuracy", 4},
                                      {"pearson", "Pearson", 4},
                                      {"spearman", "Spearman", 4},
                                      {"mse", "MSE", 4}};

ScoreFormat format_of(std::string_view name) {
  const auto format = std::ranges::find(score_formats, name, &ScoreFormat::name);
  return format == std::end(score_formats) ? ScoreFormat{name, name, 4} : *format;
}

// The loss of a classifier is not that of tokens, and that of a regression no log-likelihood.
bool has_perplexity(const train::ValidationReport& report) {
  return !report.score("accuracy") && !report.score("micro_f1") && !report.score("pearson");
}

}  // namespace

std::string score_label(std::string_view name) { return std::string(format_of(name).label); }

std::string score_value(const train::Score& score) {
  return fmt::format("{:.{}f}", score.value, format_of(score.name).digits);
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
  if (has_perplexity(report)) log_ << fmt::format("  perplexity {:.2f}", report.perplexity);
  for (const train::Score& score : report.scores) {
    log_ << "  " << score_label(score.name) << ' ' << score_value(score);
  }
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
