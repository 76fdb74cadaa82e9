#include "heed/explore/training_history.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/strict_json.h"

namespace heed::explore {
namespace {

using nlohmann::json;

// A run's own lines have a few hundred bytes, and some more for each sample.
constexpr std::size_t max_line = 1 << 20;
constexpr int max_depth = 4;

// Null: no line of a run.
json parse(std::string_view line) {
  if (line.size() > max_line) return nullptr;
  try {
    return io::parse_strict_json(line, "metrics.jsonl", max_depth, ErrorKind::data);
  } catch (const Error&) {
    return nullptr;
  }
}

double number(const json& line, const char* name) {
  const auto field = line.find(name);
  const bool is_there = field != line.end() && field->is_number();
  return is_there ? field->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

UpdatePoint point_of(const json& line, double seconds) {
  const double tokens = std::max(number(line, "source_tokens"), number(line, "target_tokens"));
  const bool has_time = seconds > 0;
  return {
      .update = line["update"].get<Index>(),
      .loss = number(line, "loss"),
      .learning_rate = number(line, "learning_rate"),
      .gradient_norm = number(line, "gradient_norm"),
      .tokens_per_second = has_time ? tokens / seconds : std::numeric_limits<double>::quiet_NaN()};
}

// The fields of a validation that are numbers or flags, by name; those of other types are left out.
constexpr const char* measures[]{"update",
                                 "epoch",
                                 "loss",
                                 "perplexity",
                                 "bleu",
                                 "latest_loss",
                                 "average",
                                 "best",
                                 "accuracy",
                                 "macro_f1",
                                 "seconds",
                                 "chrf",
                                 "rouge1",
                                 "rouge2",
                                 "rougeL",
                                 "exact_match",
                                 "squad_exact_match",
                                 "squad_f1",
                                 "micro_f1",
                                 "subset_accuracy",
                                 "pearson",
                                 "spearman",
                                 "mse"};

json measures_of(const json& line) {
  json object{{"kind", "validation"}};
  for (const char* name : measures) {
    const auto value = line.find(name);
    if (value == line.end()) continue;
    if (value->is_number() || value->is_boolean() || value->is_null()) object[name] = *value;
  }
  return object;
}

json samples_of(const json& line) {
  json samples = json::array();
  const auto list = line.find("samples");
  if (list == line.end() || !list->is_array()) return samples;
  for (const json& one : *list) {
    json sample;
    for (const char* name : {"source", "output", "reference"}) {
      if (one.is_object() && one.contains(name) && one[name].is_string()) sample[name] = one[name];
    }
    if (sample.contains("source") && sample.contains("output")) samples.push_back(sample);
  }
  return samples;
}

ValidationPoint validation_of(const json& line) {
  const json samples = samples_of(line);
  return {measures_of(line).dump(), samples.empty() ? "" : samples.dump()};
}

// Every n-th of `count` places, with the smallest n for which they are at most `max_places`, and
// the last one.
std::vector<Index> evenly_spaced(Index count, Index max_places) {
  const Index last = count - 1;
  const Index stride = std::max<Index>(1, (last + max_places - 2) / (max_places - 1));
  std::vector<Index> places;
  for (Index i = 0; i <= last; i = i < last ? std::min(i + stride, last) : last + 1) {
    places.push_back(i);
  }
  return places;
}

// Leaves the samples of every n-th point, counted from the last one, with the smallest n for which
// they are few enough.
void thin_samples(std::vector<ValidationPoint>& points, Index max_bytes) {
  const Index last = std::ssize(points) - 1;
  const auto num_bytes = [&](Index stride) {
    std::size_t sum = 0;
    for (Index i = last; i >= 0; i -= stride) sum += points[i].samples.size();
    return static_cast<Index>(sum);
  };
  Index stride = 1;
  while (stride <= last && num_bytes(stride) > max_bytes) ++stride;
  for (Index i = 0; i < last; ++i) {
    if ((last - i) % stride != 0) points[i].samples.clear();
  }
}

struct Column {
  const char* name;
  double UpdatePoint::*value;
};
constexpr Column columns_of_numbers[]{{"loss", &UpdatePoint::loss},
                                      {"learning_rate", &UpdatePoint::learning_rate},
                                      {"gradient_norm", &UpdatePoint::gradient_norm},
                                      {"tokens_per_second", &UpdatePoint::tokens_per_second}};

}  // namespace

json to_json(const UpdatePoint& point) {
  json object{{"update", point.update}};
  for (const Column& column : columns_of_numbers) object[column.name] = point.*column.value;
  return object;
}

json to_json(const ValidationPoint& point) {
  json object = json::parse(point.measures);
  if (!point.samples.empty()) object["samples"] = json::parse(point.samples);
  return object;
}

TrainingHistory::Kind TrainingHistory::add(std::string_view text) {
  const json line = parse(text);
  if (!line.is_object() || !line.contains("update") || !line["update"].is_number_integer()) {
    return Kind::other;
  }
  const std::string kind = line.contains("kind") && line["kind"].is_string() ? line["kind"] : "";
  if (kind != "update" && kind != "validation") return Kind::other;
  const double seconds = number(line, "seconds");
  if (kind == "update") {
    updates_.push_back(point_of(line, seconds - last_seconds_));
  } else {
    validations_.push_back(validation_of(line));
  }
  last_seconds_ = seconds;
  return kind == "update" ? Kind::update : Kind::validation;
}

void TrainingHistory::clear() {
  updates_.clear();
  validations_.clear();
  last_seconds_ = 0;
}

json TrainingHistory::columns(Index max_points) const {
  json columns{{"update", json::array()}};
  for (const Column& column : columns_of_numbers) columns[column.name] = json::array();
  for (const Index i : evenly_spaced(std::ssize(updates_), max_points)) {
    columns["update"].push_back(updates_[i].update);
    for (const Column& column : columns_of_numbers) {
      columns[column.name].push_back(updates_[i].*column.value);
    }
  }
  return columns;
}

json TrainingHistory::validations(Index max_points, Index max_sample_bytes) const {
  std::vector<ValidationPoint> points;
  for (const Index i : evenly_spaced(std::ssize(validations_), max_points)) {
    points.push_back(validations_[i]);
  }
  thin_samples(points, max_sample_bytes);
  json list = json::array();
  for (const ValidationPoint& point : points) list.push_back(to_json(point));
  return list;
}

}  // namespace heed::explore
