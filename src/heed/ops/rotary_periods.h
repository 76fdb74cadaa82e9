// The frequencies of RoPE, for files of other programs.
#pragma once

#include <vector>

#include "heed/ops/positions.h"

namespace heed::ops {

// 1 / frequency of every pair, after scaling.
std::vector<double> rotary_periods(const RotaryFrequencies& frequencies);

}  // namespace heed::ops
