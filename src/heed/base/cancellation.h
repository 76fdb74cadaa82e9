// Cancellation: another thread asks a long computation to give up, and it does so at its next poll.
#pragma once

#include <stop_token>

#include "heed/base/error.h"

namespace heed {

// Leaves a computation that was cancelled.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorKind::failed, "cancelled") {}
};

// While one of these lives, the computations of this thread can be cancelled by the token's source.
// Of nested ones the innermost counts.
class CancellationScope {
 public:
  explicit CancellationScope(std::stop_token token);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  std::stop_token token_;
  const std::stop_token* outer_;
};

// The poll: throws Cancelled if this thread's computation has been cancelled. Every block of a
// Transformer calls it, every operation of backward(), and loops that may take seconds.
void throw_if_cancelled();

}  // namespace heed
