#include "heed/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "heed/base/sanitizer.h"

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

TEST(InGigabytes, HasOneDigitAfterThePoint) {
  EXPECT_EQ(in_gigabytes(0), "0.0 GB");
  EXPECT_EQ(in_gigabytes(41'260'000'000), "41.3 GB");
}

}  // namespace
}  // namespace heed
