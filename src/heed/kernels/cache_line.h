// The unit in which processors fetch memory.
#pragma once

#include <cstdint>

namespace heed::kernels {

constexpr std::int64_t line_floats = 64 / sizeof(float);  // of one cache line

// Asks for an address's line, so that the second-level cache has it when it is read, which is
// thousands of cycles later: the first-level cache is left to what is read now.
inline void ask_for_line(const float* at) {
  __builtin_prefetch(at, /*to write=*/0, /*level*/ 2);
  asm volatile("");  // or GCC leaves out calls of functions that do nothing but ask
}

}  // namespace heed::kernels
