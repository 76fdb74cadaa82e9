// Watches a training run through the files that it writes, live or later.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/explore/metrics_tail.h"
#include "heed/explore/training_history.h"
#include "heed/train/training_folder.h"

namespace heed::explore {

// News of a run: {"update", one point}, {"validation", one with its samples},
// {"checkpoints", {"updates": [..]}}, {"live", {"is_live": bool}}, or {"history", everything} when
// the log was rewritten and earlier events no longer hold.
struct TrainingEvent {
  std::string name;
  std::string data;  // JSON
};

class TrainingWatch {
 public:
  explicit TrainingWatch(const std::string& model_folder);

  // Reads the new lines; returns their events.
  std::vector<TrainingEvent> look();

  // All that was read so far, thinned to what a page can draw: {"updates": columns of at most 2,000
  // points, "validations": as many, those of the last with its samples and of some others,
  // "checkpoints": [..], "is_live": bool}. A folder without a run has empty ones.
  nlohmann::json history() const;

 private:
  train::TrainingFolder folder_;
  MetricsTail tail_;
  TrainingHistory history_;
  std::vector<Index> checkpoints_;
  bool is_live_ = false;
};

// The updates whose weights can be looked back at, oldest first.
std::vector<Index> saved_checkpoints(const std::string& model_folder);

}  // namespace heed::explore
