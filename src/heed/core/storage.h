// Memory for tensors: aligned, and used again by the next ones.
#pragma once

#include <memory>

#include "heed/base/index.h"

namespace heed {

// `count` floats, not set, aligned to 64 bytes. Freed memory is kept for later requests.
std::shared_ptr<float> allocate_floats(Index count);

// Bytes in use by tensors now, and at the most so far, or since the peak was forgotten.
Index tensor_bytes();
Index peak_tensor_bytes();
void forget_peak_tensor_bytes();

}  // namespace heed
