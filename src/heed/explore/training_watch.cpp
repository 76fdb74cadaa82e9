#include "heed/explore/training_watch.h"

#include <nlohmann/json.hpp>

#include "heed/train/snapshots.h"

namespace heed::explore {
namespace {

using nlohmann::json;

// A history is one event of the page's stream: together about a megabyte and a half at most.
constexpr Index max_points = 2000;
constexpr Index max_sample_bytes = 1 << 20;

}  // namespace

TrainingWatch::TrainingWatch(const std::string& model_folder)
    : folder_(model_folder), tail_(folder_.metrics()) {}

std::vector<TrainingEvent> TrainingWatch::look() {
  std::vector<TrainingEvent> events;
  // Before the lines are read: a client that learns that the run has ended has all of them.
  const bool is_live = train::is_training_in(folder_);
  const MetricsTail::News news = tail_.read();
  if (news.is_rewritten) history_.clear();
  for (const std::string& line : news.lines) {
    const TrainingHistory::Kind kind = history_.add(line);
    if (kind == TrainingHistory::Kind::update) {
      events.push_back({"update", to_json(history_.updates().back()).dump()});
    } else if (kind == TrainingHistory::Kind::validation) {
      events.push_back({"validation", to_json(history_.validations().back()).dump()});
    }
  }
  const std::vector<Index> checkpoints = train::stored_snapshots(folder_.snapshots());
  if (checkpoints != checkpoints_) {
    events.push_back({"checkpoints", json{{"updates", checkpoints}}.dump()});
  }
  if (is_live != is_live_) events.push_back({"live", json{{"is_live", is_live}}.dump()});
  checkpoints_ = checkpoints;
  is_live_ = is_live;
  if (news.is_rewritten) events = {{"history", history().dump()}};
  return events;
}

json TrainingWatch::history() const {
  return {{"updates", history_.columns(max_points)},
          {"validations", history_.validations(max_points, max_sample_bytes)},
          {"checkpoints", checkpoints_},
          {"is_live", is_live_}};
}

std::vector<Index> saved_checkpoints(const std::string& model_folder) {
  return train::stored_snapshots(train::TrainingFolder(model_folder).snapshots());
}

}  // namespace heed::explore
