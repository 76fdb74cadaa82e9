// The unit in which processors fetch memory, and prefetching of it.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

constexpr Index line_floats = 64 / sizeof(float);  // of one cache line

// Prefetches an address's line into L2. It is read thousands of cycles later: L1 is left to what is
// read now.
inline void prefetch_line(const float* at) {
  __builtin_prefetch(at, /*to write=*/0, /*level*/ 2);
  asm volatile("");  // or GCC leaves out calls of functions that do nothing but prefetch
}

}  // namespace heed::kernels
