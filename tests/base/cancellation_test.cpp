#include "heed/base/cancellation.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Cancellation, WithoutAScopeNothingIsCancelled) { EXPECT_NO_THROW(check_cancelled()); }

TEST(Cancellation, WorkEndsWhenItsScopeSaysSo) {
  int steps = 0;
  const CancellationScope scope([&] { return steps == 3; });
  const auto work = [&] {
    for (;; ++steps) check_cancelled();
  };
  EXPECT_THROW(work(), Cancelled);
  EXPECT_EQ(steps, 3);
}

TEST(Cancellation, TheInnermostScopeCounts) {
  const CancellationScope outer([] { return true; });
  {
    const CancellationScope inner([] { return false; });
    EXPECT_NO_THROW(check_cancelled());
  }
  EXPECT_THROW(check_cancelled(), Cancelled);
}

TEST(Cancellation, ShortStepsAskNowAndThen) {
  int asked = 0;
  const CancellationScope scope([&] { return ++asked < 0; });
  for (std::size_t step = 0; step < 1000; ++step) check_cancelled(step, 100);
  EXPECT_EQ(asked, 10);
}

}  // namespace
}  // namespace heed
