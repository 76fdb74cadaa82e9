// SIGINT and SIGTERM as a flag: long work checks it between two steps, saves, and returns.
#pragma once

#include <csignal>

namespace heed {

// While one of these lives, the first SIGINT or SIGTERM only raises the flag; a second one, of
// either kind, ends the process at once. Its destructor restores the previous handlers. One at a
// time.
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

// The signal that arrived since the guard was created; 0: none.
int interrupt_signal();

}  // namespace heed
