// Cooperative cancellation: whoever may cancel long work opens a scope around it, and the loops of
// the work call check_cancelled() now and then.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>

#include "heed/base/parallel.h"

namespace heed {

// Ends cancelled work. No Error: nobody made a mistake.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

// Holds for its thread until it is destroyed, and hides the scope around it. Threads that work for
// this one are not in its scope.
class CancellationScope {
 public:
  explicit CancellationScope(std::function<bool()> is_cancelled);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  friend void check_cancelled();

  std::function<bool()> is_cancelled_;
  const CancellationScope* around_;
};

// Throws Cancelled when the scope around it says so; does nothing without a scope.
void check_cancelled();

// The same for loops of short steps: asks in the first of every `every` steps.
inline void check_cancelled(std::size_t step, std::size_t every = 4096) {
  if (step % every == 0) check_cancelled();
}

// parallel_ranges (see parallel.h) that asks between two groups of ranges.
template <typename Body>
void cancellable_ranges(Index count, Index grain, Body&& body) {
  const Index group = 64 * grain;
  for (Index begin = 0; begin < count; begin += group) {
    check_cancelled();
    parallel_ranges(std::min(group, count - begin), grain,
                    [&](Index from, Index to) { body(begin + from, begin + to); });
  }
}

}  // namespace heed
