// The CPUs that this process may use.
#pragma once

#include <filesystem>
#include <optional>

namespace heed {

// Those of its affinity mask, and no more than the CPU quota of its control groups; at least 1.
int available_cpus();

// The CPU quota of a process in a container, in CPUs: the least one of its control groups and of
// the groups above them, of version 2 (cpu.max) or 1 (cpu.cfs_quota_us). Nothing without a quota.
// `groups` lists the control groups of the process, `root` is where they are mounted.
std::optional<double> cpu_quota(const std::filesystem::path& groups = "/proc/self/cgroup",
                                const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace heed
