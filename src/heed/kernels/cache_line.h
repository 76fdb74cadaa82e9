// The unit in which processors fetch memory.
#pragma once

#include <cstdint>

namespace heed::kernels {

constexpr std::int64_t line_floats = 64 / sizeof(float);  // of one cache line

}  // namespace heed::kernels
