#include "heed/base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heed {
namespace {

namespace fs = std::filesystem;

// The number that follows a name, as in "MemAvailable:  123 kB" and "inactive_file 123".
std::optional<Index> number_after(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    Index number = 0;
    if (words >> first >> number && first == name) return number;
  }
  return std::nullopt;
}

// Nothing for a file that is missing or says "max".
std::optional<Index> number_in(const fs::path& path) {
  std::ifstream file(path);
  Index number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::optional<Index> left_on_machine() {
  const auto available = number_after("/proc/meminfo", "MemAvailable:");
  if (!available) return std::nullopt;
  return (*available + number_after("/proc/meminfo", "SwapFree:").value_or(0)) * 1024;
}

// The system drops cached files before it refuses memory, so they do not count as used.
std::optional<Index> left_in_group(const fs::path& folder) {
  const auto limit = number_in(folder / "memory.max"), used = number_in(folder / "memory.current");
  if (!limit || !used) return std::nullopt;
  const Index cached = number_after(folder / "memory.stat", "file").value_or(0);
  return std::max<Index>(0, *limit - *used + cached);
}

// "0::/user.slice/job": the group of the process (cgroup v2). Its parents have limits too.
std::optional<Index> left_in_groups() {
  std::ifstream file("/proc/self/cgroup");
  std::optional<Index> least;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    const fs::path root = "/sys/fs/cgroup";
    for (fs::path folder = root / line.substr(4);; folder = folder.parent_path()) {
      if (const auto left = left_in_group(folder)) least = std::min(least.value_or(*left), *left);
      if (folder == root || !folder.has_relative_path()) break;
    }
  }
  return least;
}

std::optional<Index> left_of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const Index used = number_in("/proc/self/statm").value_or(0) * ::sysconf(_SC_PAGESIZE);
  return std::max<Index>(0, static_cast<Index>(limit.rlim_cur) - used);
}

}  // namespace

std::optional<Index> available_memory() {
  std::optional<Index> least;
  for (const auto left : {left_on_machine(), left_in_groups(), left_of_address_space()}) {
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

std::string in_gigabytes(Index bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace heed
