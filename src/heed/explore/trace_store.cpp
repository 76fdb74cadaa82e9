#include "heed/explore/trace_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/serve/response.h"

namespace heed::explore {

std::shared_ptr<const Trace> TraceStore::add(std::string text, Recording recording) {
  traces_.push_back(
      std::make_shared<const Trace>(Trace{next_id_++, std::move(text), std::move(recording)}));
  if (traces_.size() > capacity) traces_.pop_front();
  return traces_.back();
}

std::shared_ptr<const Trace> TraceStore::find(Index id) const {
  const auto match =
      std::ranges::find_if(traces_, [&](const auto& trace) { return trace->id == id; });
  if (match == traces_.end()) {
    throw serve::NotFound(
        fmt::format("trace {}: expected one of the newest {}, found none", id, capacity));
  }
  return *match;
}

}  // namespace heed::explore
