#include "heed/io/xxh3.h"

#include <gtest/gtest.h>

namespace heed::io {
namespace {

std::string digest(std::string_view text) {
  Xxh3 hash;
  hash.update(text);
  return hash.hex_digest();
}

TEST(Xxh3, GivesTheKnownDigest) {
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");  // of the program xxhsum -H2
}

TEST(Xxh3, DoesNotDependOnHowTheBytesAreCut) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i);
  for (const std::size_t step : {1u, 7u, 64u, 1000u}) {
    Xxh3 hash;
    for (std::size_t i = 0; i < text.size(); i += step) {
      hash.update(std::string_view(text).substr(i, step));
    }
    EXPECT_EQ(hash.hex_digest(), digest(text)) << step;
  }
}

TEST(Xxh3, TakesANumberAsItsBytes) {
  Xxh3 hash;
  hash.update(std::uint64_t{0x0201});
  EXPECT_EQ(hash.hex_digest(), digest(std::string_view("\1\2\0\0\0\0\0\0", 8)));
}

}  // namespace
}  // namespace heed::io
