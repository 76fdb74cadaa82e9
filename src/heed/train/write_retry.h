// Writing to a disk that fails for a while: it is full, or its server is away.
#pragma once

#include <functional>
#include <string>

#include "heed/train/recipe.h"

namespace heed::train {

class TrainingObserver;

// Calls write(), which may be called several times, until it does not fail. The observer gets one
// warning. Throws the last error after the limit, when the observer wants to stop, and at once when
// `folder` is gone.
void retry_write(const std::string& folder, const RetryOptions& options, TrainingObserver& observer,
                 const std::function<void()>& write);

}  // namespace heed::train
