// The random numbers of initial weights.
#pragma once

#include <cstdint>

namespace heed::models {

// The step of initial weights: one that no training reaches, so that they share no random numbers
// with its dropout.
inline constexpr std::uint64_t initial_step = ~std::uint64_t{0};

}  // namespace heed::models
