// Memory that the process may still use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/base/index.h"

namespace heed {

// In bytes: the least of what the machine has left, swap included, what the limits of the process's
// control group leave (containers), and what RLIMIT_AS leaves. Nothing when the system does not
// say.
std::optional<Index> available_memory();

// What the limits of control groups leave, of version 2 (memory.max) or 1 (memory.limit_in_bytes).
// The arguments are those of control_groups.
std::optional<Index> memory_left_in_groups(
    const std::filesystem::path& groups = "/proc/self/cgroup",
    const std::filesystem::path& root = "/sys/fs/cgroup");

// "41.3 GB", in units of 10^9 bytes.
std::string in_gigabytes(Index bytes);

}  // namespace heed
