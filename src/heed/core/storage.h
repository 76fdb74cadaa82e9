// Memory for tensors, from one arena.
#pragma once

#include <memory>

#include "heed/base/index.h"

namespace heed {

// `count` floats, uninitialised, aligned to 64 bytes. Freed memory is kept for later requests.
std::shared_ptr<float> allocate_floats(Index count);

// Bytes in use by tensors, and their peak since the start or the last reset: tests of memory use,
// such as that of attention over long sequences, rest on them.
Index tensor_bytes();
Index peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace heed
