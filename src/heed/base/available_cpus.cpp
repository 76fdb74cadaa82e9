#include "heed/base/available_cpus.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "heed/base/control_groups.h"

namespace heed {
namespace {

using Path = std::filesystem::path;
using Quota = std::optional<double>;

// The first word of a file, as a number; nothing if it is none, such as `max`.
std::optional<double> first_number(std::istream&& in) {
  double number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

Quota quota_of(std::optional<double> time, std::optional<double> period) {
  const bool is_limited = time && period && *time > 0 && *period > 0;
  return is_limited ? Quota(*time / *period) : std::nullopt;
}

// "200000 100000" or "max 100000": time and period.
Quota quota_of_version_2(const Path& group) {
  std::ifstream file(group / "cpu.max");
  std::string time, period;
  file >> time >> period;
  return quota_of(first_number(std::istringstream(time)), first_number(std::istringstream(period)));
}

Quota quota_of_version_1(const Path& group) {
  return quota_of(first_number(std::ifstream(group / "cpu.cfs_quota_us")),
                  first_number(std::ifstream(group / "cpu.cfs_period_us")));
}

int cpus_of_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<double> cpu_quota(const Path& groups, const Path& root) {
  Quota least;
  for (const auto& [folder, version] : control_groups("cpu", groups, root)) {
    const Quota quota = version == 2 ? quota_of_version_2(folder) : quota_of_version_1(folder);
    if (quota) least = std::min(least.value_or(*quota), *quota);
  }
  return least;
}

int available_cpus() {
  const int cpus = std::max(1, cpus_of_affinity());
  const Quota quota = cpu_quota();
  // A quota of 1.5 would stop two threads for a quarter of the time.
  return quota ? static_cast<int>(std::clamp<double>(*quota, 1, cpus)) : cpus;
}

}  // namespace heed
