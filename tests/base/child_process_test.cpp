#include "heed/base/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed {
namespace {

// No child of this process is left, running or dead.
void expect_no_children() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

void expect_error(ErrorKind kind, const std::string& message,
                  const std::function<std::string()>& work) {
  try {
    run_in_child(work);
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
    EXPECT_EQ(error.kind(), kind);
  }
  expect_no_children();
}

TEST(ChildProcess, GivesWhatTheWorkReturns) {
  std::string large(3'000'000, 'x');
  large[5] = '\0';
  EXPECT_EQ(run_in_child([&] { return large; }), large);
  EXPECT_EQ(run_in_child([] { return std::string(); }), "");
  expect_no_children();
}

TEST(ChildProcess, TheWorkChangesNothingHere) {
  int number = 1;
  run_in_child([&] { return std::to_string(number = 2); });
  EXPECT_EQ(number, 1);
}

TEST(ChildProcess, WhatTheWorkThrowsIsThrownHere) {
  expect_error(ErrorKind::data, "line 3: bad",
               []() -> std::string { throw Error(ErrorKind::data, "line 3: bad"); });
  expect_error(ErrorKind::failed, "odd", []() -> std::string { throw std::logic_error("odd"); });
  expect_error(ErrorKind::failed, "out of memory", []() -> std::string { throw std::bad_alloc(); });
}

TEST(ChildProcess, WorkThatEndsItsProcessIsAnError) {
  expect_error(ErrorKind::failed, "child process: expected a result, found signal 6 (Aborted)",
               []() -> std::string { std::abort(); });
  expect_error(ErrorKind::failed, "child process: expected a result, found exit code 1",
               []() -> std::string { std::exit(0); });
}

TEST(ChildProcess, CancelledWorkIsKilled) {
  int asked = 0;
  const CancellationScope scope([&] { return ++asked == 3; });
  const auto wait_for_ever = []() -> std::string {
    for (;;) ::pause();
  };
  EXPECT_THROW(run_in_child(wait_for_ever), Cancelled);
  expect_no_children();
}

// Ctrl-C reaches a whole group of processes.
TEST(ChildProcess, AChildThatDiesOfTheSignalThatCancelsIsCancelledWork) {
  bool is_cancelled = false;
  const CancellationScope scope([&] { return std::exchange(is_cancelled, true); });
  EXPECT_THROW(run_in_child([]() -> std::string {
                 ::raise(SIGINT);
                 return "";
               }),
               Cancelled);
}

}  // namespace
}  // namespace heed
