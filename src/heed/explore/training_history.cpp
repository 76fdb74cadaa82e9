#include "heed/explore/training_history.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace heed::explore {
namespace {

using nlohmann::json;

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

TrainingHistory::Kind TrainingHistory::add(std::string_view text) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !line.contains("update") || !line["update"].is_number_integer()) {
    return Kind::other;
  }
  const std::string kind = line.contains("kind") && line["kind"].is_string() ? line["kind"] : "";
  if (kind != "update" && kind != "validation") return Kind::other;
  const double seconds = number(line, "seconds");
  if (kind == "update") {
    updates_.push_back(point_of(line, seconds - last_seconds_));
  } else {
    validations_.emplace_back(text);
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
  const Index last = std::ssize(updates_) - 1;
  const Index stride = std::max<Index>(1, (last + max_points - 2) / (max_points - 1));
  for (Index i = 0; i <= last; i = i < last ? std::min(i + stride, last) : last + 1) {
    columns["update"].push_back(updates_[i].update);
    for (const Column& column : columns_of_numbers) {
      columns[column.name].push_back(updates_[i].*column.value);
    }
  }
  return columns;
}

}  // namespace heed::explore
