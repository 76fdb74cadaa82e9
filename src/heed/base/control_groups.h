// The control groups (cgroups) of this process: they limit what a container may use.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace heed {

struct ControlGroup {
  std::filesystem::path folder;  // may be missing
  int version;                   // 1 or 2, which have files of other names
};

// The groups in which `controller` ("cpu", "memory") limits this process, and those above them.
// `groups` lists the groups of the process, `root` is where they are mounted.
std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const std::filesystem::path& groups = "/proc/self/cgroup",
                                         const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace heed
