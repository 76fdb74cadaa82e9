// The log of a training run, as columns of numbers that can be drawn.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed::explore {

// One update; NaN where the log has no number.
struct UpdatePoint {
  Index update = 0;
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  double tokens_per_second = 0;  // of the larger side; the time of validations does not count
};
nlohmann::json to_json(const UpdatePoint& point);

// One validation. Both are JSON that was read; fields of other types than theirs are left out.
struct ValidationPoint {
  std::string measures;  // an object: the update, and the numbers and flags of the log
  std::string samples;   // a list of {"source", "output", "reference"}; empty: none
};
nlohmann::json to_json(const ValidationPoint& point);

class TrainingHistory {
 public:
  enum class Kind { update, validation, other };

  // A line of metrics.jsonl. Other lines than updates and validations are skipped, and so are those
  // that are too long or nested too deeply to be a run's.
  Kind add(std::string_view line);
  void clear();

  const std::vector<UpdatePoint>& updates() const { return updates_; }
  const std::vector<ValidationPoint>& validations() const { return validations_; }

  // {"update": [..], "loss": [..], ...}: at most `max_points`, 2 or more. Every
  // n-th update is among them, with the smallest n for which they are few enough, and the last one.
  nlohmann::json columns(Index max_points) const;
  // A list of validations, thinned in the same way. Of these every n-th and the last one has its
  // samples, with the smallest n for which the samples have at most `max_sample_bytes`; those of
  // the last one are always there.
  nlohmann::json validations(Index max_points, Index max_sample_bytes) const;

 private:
  std::vector<UpdatePoint> updates_;
  std::vector<ValidationPoint> validations_;
  double last_seconds_ = 0;  // of the line before
};

}  // namespace heed::explore
