#include "heed/train/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

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
  const bool is_validation = line.value("kind", "") == "validation";
  return line["update"].get<Index>() <= (is_validation ? validated_update : update);
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
  if (io::is_file(path_)) {
    const std::string before = io::read_file(path_);
    const std::string kept = kept_lines(before, update, validated_update);
    if (kept != before) io::write_file_atomically(path_, kept);
  }
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, path_, ": cannot be written: ", std::strerror(errno));
}

MetricsLog::~MetricsLog() { ::close(descriptor_); }

void MetricsLog::add(const UpdateReport& report) {
  append(ordered_json{{"kind", "update"},
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
             .dump());
}

void MetricsLog::add(const ValidationReport& report) {
  ordered_json line{{"kind", "validation"},
                    {"update", report.update},
                    {"epoch", report.epoch},
                    {"loss", number(report.loss)},
                    {"perplexity", number(report.perplexity)},
                    {"bleu", report.bleu ? number(*report.bleu) : nullptr},
                    {"latest_loss", number(report.latest_loss)},
                    {"average", report.is_average},
                    {"best", report.is_best},
                    {"seconds", report.seconds}};
  if (report.accuracy) line["accuracy"] = *report.accuracy;
  if (report.macro_f1) line["macro_f1"] = *report.macro_f1;
  for (const Sample& sample : report.samples) {
    line["samples"].push_back(
        {{"source", sample.source}, {"output", sample.output}, {"reference", sample.reference}});
  }
  append(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void MetricsLog::sync() {
  const int synced = ::fdatasync(descriptor_);
  check(synced == 0, path_, ": cannot be written: ", std::strerror(errno));
}

void MetricsLog::append(std::string line) {
  line += '\n';
  const char* rest = line.data();
  std::size_t size = line.size();
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, rest, size);
    if (written < 0 && errno == EINTR) continue;
    check(written > 0, path_, ": cannot be written: ", std::strerror(errno));
    rest += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace heed::train
