#include "heed/base/cancellation.h"

#include <gtest/gtest.h>

#include <thread>

namespace heed {
namespace {

TEST(Cancellation, LeavesWorkAtItsNextPoll) {
  std::stop_source source;
  const CancellationScope scope(source.get_token());
  EXPECT_NO_THROW(throw_if_cancelled());
  source.request_stop();
  EXPECT_THROW(throw_if_cancelled(), Cancelled);
}

TEST(Cancellation, EndsWithItsScope) {
  std::stop_source cancelled;
  cancelled.request_stop();
  {
    const CancellationScope scope(cancelled.get_token());
    {
      const CancellationScope inner(std::stop_source().get_token());
      EXPECT_NO_THROW(throw_if_cancelled());
    }
    EXPECT_THROW(throw_if_cancelled(), Cancelled);
  }
  EXPECT_NO_THROW(throw_if_cancelled());
}

TEST(Cancellation, IsOfOneThread) {
  std::stop_source cancelled;
  cancelled.request_stop();
  const CancellationScope scope(cancelled.get_token());
  std::thread([] { EXPECT_NO_THROW(throw_if_cancelled()); }).join();
}

}  // namespace
}  // namespace heed
