#include "heed/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// Puts the number of threads back when a test ends.
class ParallelTest : public testing::Test {
 protected:
  ~ParallelTest() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ParallelTest, EveryPieceRunsExactlyOnce) {
  for (const int threads : {1, 2, 4}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    for (const Index pieces : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(pieces);
      parallel_for(pieces, [&](Index piece) { ++runs[piece]; });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST_F(ParallelTest, LongestFirstHandsOutEveryPieceOnceInOrder) {
  for (const int threads : {1, 2, 4}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> runs(500);
    std::atomic<bool> in_order = true;
    parallel_longest_first(500, [&](Index piece) {
      ++runs[piece];
      // Every earlier piece has started, or is in the hands of one of the other threads.
      const auto waiting = std::count(runs.begin(), runs.begin() + piece, 0);
      if (waiting > threads - 1) in_order = false;
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_TRUE(in_order);
  }
}

TEST_F(ParallelTest, RangesCoverEverythingWithoutOverlap) {
  set_num_threads(2);
  for (const Index count : {0, 1, 9, 10, 11, 95}) {
    std::vector<int> covered(count, 0);
    parallel_ranges(count, 10, [&](Index begin, Index end) {
      EXPECT_EQ(begin % 10, 0);
      EXPECT_LE(end - begin, 10);
      for (Index i = begin; i < end; ++i) ++covered[i];
    });
    EXPECT_EQ(covered, std::vector<int>(count, 1));
  }
}

TEST_F(ParallelTest, AnExceptionReachesTheCallerAndTheNextCallWorks) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(100,
                            [](Index piece) {
                              if (piece == 37) throw std::runtime_error("piece 37");
                            }),
               std::runtime_error);
  std::atomic<Index> sum = 0;
  parallel_for(100, [&](Index piece) { sum += piece; });
  EXPECT_EQ(sum, 4950);
}

TEST_F(ParallelTest, ACallFromInsideAPieceRunsToo) {
  set_num_threads(2);
  std::vector<std::atomic<int>> runs(6);
  parallel_for(
      2, [&](Index outer) { parallel_for(3, [&](Index inner) { ++runs[outer * 3 + inner]; }); });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST_F(ParallelTest, CallsFromSeveralThreadsDoNotDisturbEachOther) {
  set_num_threads(2);
  std::atomic<Index> total = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) parallel_for(20, [&](Index) { ++total; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 50 * 20);
}

TEST_F(ParallelTest, RefusesLessThanOneThreadAndMoreThanTheMost) {
  EXPECT_THROW(set_num_threads(0), Error);
  EXPECT_THROW(set_num_threads(max_num_threads + 1), Error);
}

// This process may have only a few threads from now on, those of other processes of its user
// counted. The superuser has no such limit, so another user takes its place.
bool limit_threads() {
  constexpr uid_t nobody = 65534;
  constexpr rlimit few{4, 4};
  const bool is_limited_user = ::geteuid() != 0 || ::setresuid(nobody, nobody, nobody) == 0;
  return is_limited_user && ::setrlimit(RLIMIT_NPROC, &few) == 0;
}

// In a process of its own: 0 if all pieces ran. One that waits for ever is ended by the alarm.
[[noreturn]] void run_with_few_threads() {
  ::alarm(60);
  if (!limit_threads()) std::_Exit(2);
  set_num_threads(200);
  for (int round = 0; round < 3; ++round) {
    std::atomic<Index> sum = 0;
    parallel_for(1000, [&](Index piece) { sum += piece; });
    parallel_longest_first(1000, [&](Index piece) { sum += piece; });
    if (sum != 2 * 499500) std::_Exit(1);
  }
  set_num_threads(100);  // another pool
  parallel_for(10, [](Index) {});
  std::_Exit(0);
}

TEST_F(ParallelTest, ThreadsThatCannotBeStartedAreDoneWithout) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_with_few_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace heed
