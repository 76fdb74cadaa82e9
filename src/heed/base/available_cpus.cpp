#include "heed/base/available_cpus.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

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

Quota least(Quota a, Quota b) { return a && b ? std::min(*a, *b) : (a ? a : b); }

// Of a group and those above it. A container may see its own group as the root, whatever the name
// of the group is outside, so groups that are not there are left out.
Quota least_quota(const Path& mount, const Path& group, Quota (*quota_of_group)(const Path&)) {
  Quota quota;
  for (Path at = group.relative_path();; at = at.parent_path()) {
    quota = least(quota, quota_of_group(mount / at));
    if (at.empty()) return quota;
  }
}

bool has_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

int cpus_of_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<double> cpu_quota(const Path& groups, const Path& root) {
  std::ifstream file(groups);
  Quota quota;
  // number:controllers:group, with no controllers for version 2
  for (std::string number, controllers, group; std::getline(file, number, ':') &&
                                               std::getline(file, controllers, ':') &&
                                               std::getline(file, group);) {
    const Path path = Path(group).lexically_normal();
    if (controllers.empty()) quota = least(quota, least_quota(root, path, quota_of_version_2));
    if (!has_cpu(controllers)) continue;
    for (const std::string& mount : {controllers, std::string("cpu")}) {
      quota = least(quota, least_quota(root / mount, path, quota_of_version_1));
    }
  }
  return quota;
}

int available_cpus() {
  const int cpus = std::max(1, cpus_of_affinity());
  const Quota quota = cpu_quota();
  // A quota of 1.5 would stop two threads for a quarter of the time.
  return quota ? static_cast<int>(std::clamp<double>(*quota, 1, cpus)) : cpus;
}

}  // namespace heed
