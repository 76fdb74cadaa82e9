#include "heed/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "heed/base/sanitizer.h"
#include "support/control_group_files.h"

namespace heed {
namespace {

TEST(AvailableMemory, IsNoMoreThanTheLimitOfTheAddressSpace) {
  if (HEED_ADDRESS_SANITIZER) GTEST_SKIP() << "the sanitizer itself takes terabytes of addresses";
  const auto before = available_memory();
  ASSERT_TRUE(before.has_value());
  EXPECT_GT(*before, 0);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit small{rlim_t{1} << 20, limit.rlim_max};  // less than the process has
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
  const auto limited = available_memory();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(limited, 0);
}

std::optional<Index> left(const ControlGroups& groups, const std::string& list) {
  return memory_left_in_groups(groups.list(list), groups.root());
}

TEST(MemoryLeftInGroups, IsNothingWithoutALimit) {
  const ControlGroups groups;
  EXPECT_EQ(left(groups, "0::/a\n"), std::nullopt);
  groups.write("a/memory.max", "max\n");
  groups.write("a/memory.current", "100\n");
  EXPECT_EQ(left(groups, "0::/a\n"), std::nullopt);
}

TEST(MemoryLeftInGroups, IsTheLeastOfAGroupAndThoseAboveIt) {
  const ControlGroups groups;
  groups.write("a/b/memory.max", "5000\n");
  groups.write("a/b/memory.current", "1000\n");
  EXPECT_EQ(left(groups, "0::/a/b\n"), 4000);
  groups.write("a/memory.max", "2000\n");
  groups.write("a/memory.current", "1500\n");
  EXPECT_EQ(left(groups, "0::/a/b\n"), 500);
}

TEST(MemoryLeftInGroups, CachedFilesAreNotCountedAsUsed) {
  const ControlGroups groups;
  groups.write("a/memory.max", "5000\n");
  groups.write("a/memory.current", "4000\n");
  groups.write("a/memory.stat", "anon 1000\nfile 3000\n");
  EXPECT_EQ(left(groups, "0::/a\n"), 4000);
}

TEST(MemoryLeftInGroups, ReadsTheFilesOfVersion1) {
  const ControlGroups groups;
  groups.write("memory/a/memory.limit_in_bytes", "5000\n");
  groups.write("memory/a/memory.usage_in_bytes", "4000\n");
  groups.write("memory/a/memory.stat", "cache 10\ntotal_cache 500\n");
  EXPECT_EQ(left(groups, "3:cpu:/a\n2:memory:/a\n"), 1500);
  EXPECT_EQ(left(groups, "3:cpu:/a\n"), std::nullopt);
}

TEST(InGigabytes, HasOneDigitAfterThePoint) {
  EXPECT_EQ(in_gigabytes(0), "0.0 GB");
  EXPECT_EQ(in_gigabytes(41'260'000'000), "41.3 GB");
}

}  // namespace
}  // namespace heed
