#include "heed/base/interrupt.h"

namespace heed {
namespace {

// The only type that a signal handler may write to.
volatile std::sig_atomic_t arrived_signal = 0;

// The next signal, this one or the other, has its usual effect.
void remember_signal(int signal) {
  arrived_signal = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  arrived_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_int_);
  sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
  arrived_signal = 0;
}

int interrupt_signal() { return arrived_signal; }

}  // namespace heed
