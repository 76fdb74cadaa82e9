#include "heed/serve/secret.h"

#include <gtest/gtest.h>

#include <set>

namespace heed::serve {
namespace {

TEST(Secret, IsNeverTheSameAndFitsIntoAnAddress) {
  constexpr std::size_t count = 100;
  std::set<std::string> secrets;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string secret = make_secret();
    EXPECT_EQ(secret.size(), 43u);  // 256 bits, 6 a letter
    EXPECT_EQ(secret.find_first_not_of(
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    secrets.insert(secret);
  }
  EXPECT_EQ(secrets.size(), count);
}

TEST(Secret, IsTheSameOnlyIfEveryLetterIs) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "Abc", "aBc", "abC"}) {
    EXPECT_FALSE(is_same_secret("abc", other)) << other;
  }
}

}  // namespace
}  // namespace heed::serve
