#include "heed/serve/worker.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace heed::serve {
namespace {

TEST(Worker, DoesJobsInOrderOnOneThread) {
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  std::promise<void> finished;
  Worker worker;
  for (int i = 0; i < 10; ++i) {
    worker.add([&, i] {
      done.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  worker.add([&] { finished.set_value(); });
  finished.get_future().wait();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (const auto& thread : threads) EXPECT_EQ(thread, threads.front());
}

TEST(Worker, FinishesTheJobUnderWayAndDropsTheRest) {
  std::promise<void> started, go_on;
  bool is_first_done = false, is_second_done = false;
  Worker worker;
  worker.add([&] {
    started.set_value();
    go_on.get_future().wait();
    is_first_done = true;
  });
  worker.add([&] { is_second_done = true; });
  started.get_future().wait();
  std::thread stopping([&] { worker.stop(); });
  // The second job can only run after the first, which waits until the stop has been asked for.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  go_on.set_value();
  stopping.join();
  EXPECT_TRUE(is_first_done);
  EXPECT_FALSE(is_second_done);
  worker.add([&] { is_second_done = true; });
  worker.stop();
  EXPECT_FALSE(is_second_done);
}

}  // namespace
}  // namespace heed::serve
