// Expects a heed::Error of one kind with exactly this message, shortened as every message is.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heed/base/error.h"

namespace heed {

template <typename Action>
void expect_error(ErrorKind kind, const std::string& message, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), Error(kind, message).what());
    EXPECT_EQ(error.kind(), kind) << message;
  }
}

}  // namespace heed
