#include "heed/base/available_cpus.h"

#include <gtest/gtest.h>

#include "support/control_group_files.h"

namespace heed {
namespace {

std::optional<double> quota(const ControlGroups& groups, const std::string& list) {
  return cpu_quota(groups.list(list), groups.root());
}

TEST(AvailableCpus, ThereIsAtLeastOne) { EXPECT_GE(available_cpus(), 1); }

TEST(CpuQuota, IsNoneWithoutControlGroups) {
  EXPECT_EQ(cpu_quota("/no/such/file", "/no/such/folder"), std::nullopt);
  EXPECT_EQ(quota(ControlGroups(), "0::/a/b\n"), std::nullopt);
  EXPECT_EQ(quota(ControlGroups(), "not such a file\n"), std::nullopt);
}

TEST(CpuQuota, IsTheTimeOfVersion2InAPeriod) {
  const ControlGroups groups;
  groups.write("a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(groups, "0::/a/b\n"), 1.5);
  groups.write("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(groups, "0::/a/b\n"), std::nullopt);
}

TEST(CpuQuota, IsTheLeastOfAGroupAndThoseAboveIt) {
  const ControlGroups groups;
  groups.write("a/b/cpu.max", "800000 100000\n");
  groups.write("a/cpu.max", "200000 100000\n");
  groups.write("cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(groups, "0::/a/b\n"), 2);
  EXPECT_EQ(quota(groups, "0::/\n"), 4);
}

// The group's name outside of the container, whose folder is not there inside.
TEST(CpuQuota, IsThatOfTheRootInAContainer) {
  const ControlGroups groups;
  groups.write("cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(groups, "0::/../docker/1234\n"), 3);
}

TEST(CpuQuota, IsTheTimeOfVersion1InAPeriod) {
  const ControlGroups groups;
  groups.write("cpu,cpuacct/docker/1/cpu.cfs_quota_us", "250000\n");
  groups.write("cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
  groups.write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  groups.write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const std::string list = "9:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/docker/1\n";
  EXPECT_EQ(quota(groups, list), 2.5);
  EXPECT_EQ(quota(groups, "4:cpuset,cpuacct:/docker/1\n"), std::nullopt);
}

}  // namespace
}  // namespace heed
