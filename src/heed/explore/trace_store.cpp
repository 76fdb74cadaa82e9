#include "heed/explore/trace_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "heed/serve/response.h"

namespace heed::explore {

std::shared_ptr<const Trace> TraceStore::add(std::string text, Recording recording) {
  traces_.push_back(
      std::make_shared<const Trace>(Trace{next_id_++, std::move(text), std::move(recording)}));
  while (traces_.size() > capacity || (traces_.size() > 1 && num_bytes() > max_bytes_)) {
    traces_.pop_front();
  }
  return traces_.back();
}

Index TraceStore::num_bytes() const {
  Index sum = 0;
  std::set<const ModelSession*> old_models;
  for (const auto& trace : traces_) {
    sum += trace->recording.num_bytes();
    old_models.insert(&trace->session());
  }
  old_models.erase(&traces_.back()->session());
  for (const ModelSession* model : old_models) {
    sum += model->num_parameters() * static_cast<Index>(sizeof(float));
  }
  return sum;
}

std::shared_ptr<const Trace> TraceStore::find(Index id) const {
  const auto match =
      std::ranges::find_if(traces_, [&](const auto& trace) { return trace->id == id; });
  if (match == traces_.end()) {
    throw serve::NotFound(fmt::format(
        "trace {}: expected one of the newest runs, found none; run the sentence again", id));
  }
  return *match;
}

}  // namespace heed::explore
