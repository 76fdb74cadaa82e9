// SIGINT and SIGTERM as a flag: long work looks at it between two steps, saves, and leaves.
#pragma once

#include <csignal>

namespace heed {

// While one of these lives, the first SIGINT or SIGTERM only raises the flag; a second one ends the
// process at once. The handlers of before come back at the end. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_int_;
  struct sigaction before_term_;
};

// The signal that arrived since the guard began; 0: none.
int interrupt_signal();

}  // namespace heed
