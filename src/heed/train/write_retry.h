// Writing to a disk that fails for a while: it is full, or its server is away.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace heed::train {

class TrainingObserver;

struct RetryOptions {
  std::chrono::milliseconds interval{5000};
  std::chrono::milliseconds limit{60000};  // then the run is given up
};

// Calls write(), which may be called several times, until it does not fail. The observer gets one
// warning. Throws the last error after the limit, when the observer wants to stop, and at once when
// `folder` is gone.
void retry_write(const std::string& folder, const RetryOptions& options, TrainingObserver& observer,
                 const std::function<void()>& write);

}  // namespace heed::train
