// Memory that the process may still use.
#pragma once

#include <optional>
#include <string>

#include "heed/base/index.h"

namespace heed {

// In bytes: the least of what the machine has left, swap included, what the limits of the process's
// control group leave (containers), and what RLIMIT_AS leaves. Nothing when the system does not
// say.
std::optional<Index> available_memory();

// "41.3 GB", in units of 10^9 bytes.
std::string in_gigabytes(Index bytes);

}  // namespace heed
