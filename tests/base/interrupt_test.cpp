#include "heed/base/interrupt.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Interrupt, TheFirstSignalOnlyRaisesTheFlag) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptGuard guard;
    EXPECT_EQ(interrupt_signal(), 0);
    std::raise(signal);
    EXPECT_EQ(interrupt_signal(), signal);
  }
}

TEST(Interrupt, TheFlagFallsWithItsGuard) {
  {
    const InterruptGuard guard;
    std::raise(SIGTERM);
  }
  EXPECT_EQ(interrupt_signal(), 0);
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcessWhicheverItIs) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      EXPECT_EXIT(
          {
            const InterruptGuard guard;
            std::raise(first);
            std::raise(second);
            std::exit(0);
          },
          testing::KilledBySignal(second), "");
    }
  }
}

TEST(InterruptDeathTest, TheHandlersOfBeforeComeBack) {
  EXPECT_EXIT(
      {
        { const InterruptGuard guard; }
        std::raise(SIGTERM);
        std::exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace heed
