// A folder that looks like /sys/fs/cgroup.
#pragma once

#include <filesystem>
#include <string>

#include "support/temporary_folder.h"

namespace heed {

class ControlGroups {
 public:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(path)).parent_path());
    folder_.write(path, text);
  }
  // Writes the list of a process's groups, as /proc/self/cgroup, and returns its path.
  std::string list(const std::string& groups) const { return folder_.write("groups", groups); }
  std::string root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace heed
