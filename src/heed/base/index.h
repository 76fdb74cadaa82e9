// The one integer type for sizes and positions.
#pragma once

#include <cstdint>

namespace heed {

using Index = std::int64_t;

// For numbers that are not negative, and steps above 0.
constexpr Index quotient_up(Index value, Index step) { return (value + step - 1) / step; }
constexpr Index round_up(Index value, Index step) { return quotient_up(value, step) * step; }

}  // namespace heed
