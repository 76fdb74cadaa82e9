// The most recent runs of the page.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "heed/explore/recording.h"

namespace heed::explore {

// One text that a model has answered, and the pass over it that was watched.
struct Trace {
  Index id = 0;
  std::string text;     // as it was typed, replacements of words included
  Recording recording;  // with its session, tokens and interventions

  const ModelSession& session() const { return recording.session(); }
  const std::vector<int>& source() const { return recording.input().source; }
  const std::vector<int>& target() const { return recording.input().target; }
};

class TraceStore {
 public:
  static constexpr std::size_t capacity = 16;

  // `max_bytes` for tensors and for models that only old traces still hold. The newest trace is
  // kept whatever its size.
  explicit TraceStore(Index max_bytes = Index{1} << 29) : max_bytes_(max_bytes) {}

  // Gives the trace its number; the oldest are forgotten when there are too many or they take too
  // much memory.
  std::shared_ptr<const Trace> add(std::string text, Recording recording);
  // Throws serve::NotFound for traces that are forgotten or never were.
  std::shared_ptr<const Trace> find(Index id) const;

 private:
  Index num_bytes() const;

  Index max_bytes_;
  std::deque<std::shared_ptr<const Trace>> traces_;
  Index next_id_ = 1;
};

}  // namespace heed::explore
