#include "heed/io/require_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.h"

namespace heed::io {
namespace {

TEST(RequireMemory, GivesTheResultOrNamesTheFileAndTheSize) {
  const auto what = [] { return "a file of 9 bytes"; };
  EXPECT_EQ(require_memory(ErrorKind::model, "m", what, [] { return 3; }), 3);
  const std::string message = "m: expected memory for a file of 9 bytes, found too little";
  expect_error(ErrorKind::model, message, [&] {
    require_memory(ErrorKind::model, "m", what, [] { throw std::bad_alloc(); });
  });
  expect_error(ErrorKind::data, message, [&] {
    require_memory(ErrorKind::data, "m", what, [] { std::vector<char>().resize(~std::size_t{0}); });
  });
  EXPECT_THROW(require_memory(ErrorKind::data, "m", what, [] { throw std::runtime_error("x"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace heed::io
