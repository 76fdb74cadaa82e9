#include "heed/metrics/word_numbers.h"

#include <gtest/gtest.h>

namespace heed::metrics {
namespace {

TEST(WordNumbers, AreEqualForEqualWordsOnly) {
  using Words = std::vector<std::string>;
  using Numbers = std::vector<std::uint32_t>;
  WordNumbers numbers;
  EXPECT_EQ(numbers.of(Words{"a", "b", "a", ""}), (Numbers{0, 1, 0, 2}));
  EXPECT_EQ(numbers.of(Words{"c", "b"}), (Numbers{3, 1}));
  EXPECT_EQ(numbers.of(Words{}), Numbers{});
}

}  // namespace
}  // namespace heed::metrics
