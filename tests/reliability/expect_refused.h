// Expects a file to be refused with the exit code of its kind and a message that says why.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heed/base/error.h"
#include "reliability/load_and_run.h"
#include "reliability/tiny_models.h"
#include "support/temporary_folder.h"

namespace heed {

inline constexpr int bad_data = 3, bad_model = 4;  // exit codes

// The message names the folder's file and holds `message`, on one line.
template <typename Action>
void expect_refused(const std::string& folder, int code, const std::string& message,
                    Action&& action) {
  try {
    action();
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const Error& error) {
    const std::string found = error.what();
    EXPECT_EQ(exit_code(error.kind()), code) << found;
    EXPECT_NE(found.find(message), std::string::npos) << found << "\nexpected: " << message;
    EXPECT_TRUE(found.starts_with(folder)) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  }
}

inline void expect_refused(const ModelFiles& model, const std::string& message) {
  const TemporaryFolder folder;
  model.write_to(folder.path());
  expect_refused(folder.path(), bad_model, message, [&] { load_and_run(folder.path()); });
}

}  // namespace heed
