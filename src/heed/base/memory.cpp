#include "heed/base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "heed/base/control_groups.h"

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

struct GroupFiles {
  const char *limit, *used, *cached;  // the last one is a row of memory.stat
};

// The system drops cached files before it refuses memory, so they do not count as used.
std::optional<Index> left_in_group(const ControlGroup& group) {
  const GroupFiles files = group.version == 2 ? GroupFiles{"memory.max", "memory.current", "file"}
                                              : GroupFiles{"memory.limit_in_bytes",
                                                           "memory.usage_in_bytes", "total_cache"};
  const auto limit = number_in(group.folder / files.limit);
  const auto used = number_in(group.folder / files.used);
  if (!limit || !used) return std::nullopt;
  const Index cached = number_after(group.folder / "memory.stat", files.cached).value_or(0);
  return std::max<Index>(0, *limit - *used + cached);
}

std::optional<Index> left_of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const Index used = number_in("/proc/self/statm").value_or(0) * ::sysconf(_SC_PAGESIZE);
  return std::max<Index>(0, static_cast<Index>(limit.rlim_cur) - used);
}

}  // namespace

std::optional<Index> memory_left_in_groups(const fs::path& groups, const fs::path& root) {
  std::optional<Index> least;
  for (const ControlGroup& group : control_groups("memory", groups, root)) {
    if (const auto left = left_in_group(group)) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

std::optional<Index> available_memory() {
  std::optional<Index> least;
  for (const auto left : {left_on_machine(), memory_left_in_groups(), left_of_address_space()}) {
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

std::string in_gigabytes(Index bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace heed
