#include "heed/io/checked_size.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::io {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedSize, AddsAndMultipliesUpToTheLargestValue) {
  EXPECT_EQ((CheckedSize(largest - 3, "f") + 3).value(), largest);
  EXPECT_EQ((CheckedSize(largest / 5, "f") * 5).value(), largest);
  EXPECT_EQ((CheckedSize(largest, "f") * 0).value(), 0u);
}

TEST(CheckedSize, RefusesToWrap) {
  expect_error(ErrorKind::model,
               "a.st: w: expected a size that fits 64 bits, found 18446744073709551615 + 1",
               [] { CheckedSize(largest, "a.st: w") + 1; });
  expect_error(ErrorKind::model,
               "a.st: w: expected a size that fits 64 bits, found 9223372036854775808 x 2",
               [] { CheckedSize(std::uint64_t{1} << 63, "a.st: w") * 2; });
}

TEST(CheckedSize, NarrowsWhatFits) {
  EXPECT_EQ(CheckedSize(127, "f").as<std::int8_t>(), 127);
  expect_error(ErrorKind::model, "f: expected a size of at most 32767, found 32768",
               [] { CheckedSize(32768, "f").as<std::int16_t>(); });
  expect_error(ErrorKind::model,
               "f: expected a size of at most 9223372036854775807, found 18446744073709551615",
               [] { CheckedSize(largest, "f").as<std::int64_t>(); });
}

TEST(CheckedSize, RefusesWithTheKindOfItsFile) {
  expect_error(ErrorKind::data, "a.png: expected a size of at most 32767, found 65536",
               [] { (CheckedSize(256, "a.png", ErrorKind::data) * 256).as<std::int16_t>(); });
}

}  // namespace
}  // namespace heed::io
