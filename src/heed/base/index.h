// The one integer type for sizes and positions.
#pragma once

#include <cstdint>

namespace heed {

using Index = std::int64_t;

}  // namespace heed
