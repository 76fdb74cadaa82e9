#include "heed/train/metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/files.h"

namespace heed::train {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// JSON has no infinity and no NaN.
ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : nullptr; }

bool is_kept(const json& line, Index update, Index validated_update) {
  if (!line.is_object() || !line.contains("update") || !line["update"].is_number_integer()) {
    return false;
  }
  const auto kind = line.find("kind");
  const bool is_validation = kind != line.end() && *kind == "validation";
  return line["update"].get<Index>() <= (is_validation ? validated_update : update);
}

double number_in(const ordered_json& line, const char* name) {
  const auto value = line.find(name);
  return value != line.end() && value->is_number() ? value->get<double>() : std::nan("");
}

// The numbers besides the measures that every validation has.
std::vector<Score> scores_in(const ordered_json& line) {
  constexpr std::string_view others[]{"update",     "epoch",       "loss",
                                      "perplexity", "latest_loss", "seconds"};
  std::vector<Score> scores;
  for (const auto& [name, value] : line.items()) {
    const bool is_score = value.is_number() && std::ranges::count(others, name) == 0;
    if (is_score) scores.push_back({name, value.get<double>()});
  }
  return scores;
}

ValidationReport validation_in(const ordered_json& line) {
  ValidationReport report;
  report.update = line["update"].get<Index>();
  report.loss = number_in(line, "loss");
  report.perplexity = number_in(line, "perplexity");
  report.latest_loss = number_in(line, "latest_loss");
  report.scores = scores_in(line);
  report.seconds = number_in(line, "seconds");
  return report;
}

bool has_value(const ordered_json& line, const char* name, const ordered_json& value) {
  const auto found = line.find(name);
  return found != line.end() && *found == value;
}

void add_line(LoggedRun& run, const ordered_json& line) {
  if (!line.is_object() || !line.contains("update") || !line["update"].is_number_integer()) return;
  run.updates = std::max(run.updates, line["update"].get<Index>());
  run.seconds = std::fmax(run.seconds, number_in(line, "seconds"));
  const bool is_model = has_value(line, "kind", "validation") && has_value(line, "best", true);
  if (is_model) run.validation = validation_in(line);
}

std::string kept_lines(const std::string& log, Index update, Index validated_update) {
  std::string kept;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    const json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_discarded() && is_kept(parsed, update, validated_update)) kept += line + '\n';
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(std::string path, Index update, Index validated_update)
    : path_(std::move(path)) {
  truncate(update, validated_update);
}

MetricsLog::~MetricsLog() { close(); }

void MetricsLog::truncate(Index update, Index validated_update) {
  close();
  unsynced_.clear();
  synced_size_ = 0;
  if (io::is_file(path_)) {
    const std::string before = io::read_file(path_);
    const std::string kept = kept_lines(before, update, validated_update);
    if (kept != before) io::write_file_atomically(path_, kept);
    synced_size_ = std::ssize(kept);
  }
  open();
}

// Leaves in the file what was synced, and the rest to flush().
void MetricsLog::open() {
  struct stat found {};
  const bool is_there = ::stat(path_.c_str(), &found) == 0;
  // Opening a pipe would wait until somebody reads from it.
  check(!is_there || S_ISREG(found.st_mode), path_,
        ": expected a regular file, found something else");
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_writing(errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_writing(errno);
  check(status.st_size >= synced_size_, path_, ": expected at least ", synced_size_,
        " bytes, found ", status.st_size);
  if (::ftruncate(descriptor_, synced_size_) != 0) fail_writing(errno);
}

void MetricsLog::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  num_written_ = 0;
}

// After an error the system may have dropped bytes that it had taken, so the file is opened again
// and all is written that was not synced.
void MetricsLog::fail_writing(int error) {
  close();
  fail(ErrorKind::failed, path_, ": cannot be written: ", std::strerror(error));
}

void MetricsLog::queue(const UpdateReport& report) {
  unsynced_ += ordered_json{{"kind", "update"},
                            {"update", report.update},
                            {"epoch", report.epoch},
                            {"loss", number(report.loss)},
                            {"likelihood_loss", number(report.likelihood_loss)},
                            {"learning_rate", report.learning_rate},
                            {"gradient_norm", number(report.gradient_norm)},
                            {"source_tokens", report.source_tokens},
                            {"target_tokens", report.target_tokens},
                            {"applied", report.is_applied},
                            {"seconds", report.seconds}}
                   .dump() +
               '\n';
}

void MetricsLog::queue(const ValidationReport& report) {
  ordered_json line{{"kind", "validation"},
                    {"update", report.update},
                    {"epoch", report.epoch},
                    {"loss", number(report.loss)},
                    {"perplexity", number(report.perplexity)},
                    {"bleu", nullptr},
                    {"latest_loss", number(report.latest_loss)},
                    {"average", report.is_average},
                    {"best", report.is_best},
                    {"seconds", report.seconds}};
  for (const Score& score : report.scores) line[score.name] = number(score.value);
  for (const Sample& sample : report.samples) {
    line["samples"].push_back(
        {{"source", sample.source}, {"output", sample.output}, {"reference", sample.reference}});
  }
  unsynced_ += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

void MetricsLog::flush() {
  if (descriptor_ < 0) open();
  while (num_written_ < unsynced_.size()) {
    const ssize_t count =
        ::write(descriptor_, unsynced_.data() + num_written_, unsynced_.size() - num_written_);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_writing(count < 0 ? errno : ENOSPC);
    num_written_ += static_cast<std::size_t>(count);
  }
}

void MetricsLog::sync() {
  flush();
  if (::fdatasync(descriptor_) != 0) fail_writing(errno);
  synced_size_ += std::ssize(unsynced_);
  unsynced_.clear();
  num_written_ = 0;
}

LoggedRun read_log(const std::string& path) {
  LoggedRun run;
  if (!io::is_file(path)) return run;
  std::istringstream in(io::read_file(path));
  for (std::string line; std::getline(in, line);) {
    const auto parsed = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_discarded()) add_line(run, parsed);
  }
  return run;
}

}  // namespace heed::train
