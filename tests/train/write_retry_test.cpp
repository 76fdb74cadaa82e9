#include "heed/train/write_retry.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/train/training_observer.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

struct Recorder : TrainingObserver {
  std::vector<std::string> warnings;
  bool stops = false;

  bool should_stop() override { return stops; }
  void on_warning(const std::string& message) override { warnings.push_back(message); }
};

class RetryWrite : public testing::Test {
 protected:
  void retry(const std::function<void()>& write) {
    retry_write(folder.path(),
                {.interval = std::chrono::milliseconds(1), .limit = std::chrono::milliseconds(4)},
                recorder, write);
  }

  TemporaryFolder folder;
  Recorder recorder;
  int calls = 0;
};

TEST_F(RetryWrite, SaysNothingWhenAllIsWell) {
  retry([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(recorder.warnings.empty());
}

TEST_F(RetryWrite, GoesOnAfterOneWarning) {
  retry([&] { check(++calls == 3, "x: cannot be written"); });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(recorder.warnings,
            std::vector<std::string>{"x: cannot be written; trying again for 0.004 seconds"});
}

TEST_F(RetryWrite, GivesUpAfterTheLimitWithTheLastError) {
  try {
    retry([&] { check(false, "failure ", ++calls); });
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_STREQ(error.what(), "failure 5");
  }
  EXPECT_EQ(recorder.warnings.size(), 1u);
}

TEST_F(RetryWrite, GivesUpWhenTheObserverWantsToStopOrTheFolderIsGone) {
  const auto fails = [&] { check(false, "failure ", ++calls); };
  recorder.stops = true;
  EXPECT_THROW(retry(fails), Error);
  EXPECT_EQ(calls, 1);
  recorder.stops = false;
  std::filesystem::remove(folder.path());
  EXPECT_THROW(retry(fails), Error);
  EXPECT_EQ(calls, 2);
}

TEST_F(RetryWrite, ErrorsOfOtherKindsAreNotThoseOfADisk) {
  EXPECT_THROW(retry([&] { fail(ErrorKind::diverged, "call ", ++calls); }), Error);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(recorder.warnings.empty());
}

}  // namespace
}  // namespace heed::train
