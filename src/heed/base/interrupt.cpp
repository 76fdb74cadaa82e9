#include "heed/base/interrupt.h"

namespace heed {
namespace {

// The only type that a signal handler may write to.
volatile std::sig_atomic_t arrived_signal = 0;

void remember_signal(int signal) { arrived_signal = signal; }

}  // namespace

InterruptGuard::InterruptGuard() {
  arrived_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember_signal;
  sigemptyset(&action.sa_mask);
  // Once only, so that a second signal has its usual effect; system calls are restarted.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
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
