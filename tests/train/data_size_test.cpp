#include "heed/train/data_size.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed::train {
namespace {

TEST(DataSize, CountsWordsAndDistinctLines) {
  const std::vector<std::string> lines{"a man sleeps", "a man sleeps", "", "two  men"};
  const TextSize size = text_size(lines);
  EXPECT_EQ(size.lines, 4);
  EXPECT_EQ(size.distinct_lines, 3);
  EXPECT_EQ(size.tokens, 3 + 3 + 0 + 2);
  EXPECT_EQ(size.most_tokens, 3);
}

TEST(DataSize, TakesAQuarterOfTheCharactersWhereThereAreNoSpaces) {
  const std::vector<std::string> lines{"一个男人在树下睡觉了吗"};  // 11 characters of 3 bytes
  EXPECT_EQ(text_size(lines).tokens, 2);
  const std::vector<std::string> words{"Donaudampfschifffahrt ja"};
  EXPECT_EQ(text_size(words).tokens, 6);
}

TEST(DataSize, LeavesOneLineIn200Out) {
  std::vector<std::string> lines(199, "one");
  lines.push_back("one two three four");
  EXPECT_EQ(text_size(lines).most_tokens, 1);
  lines.pop_back();
  lines.pop_back();
  lines.push_back("one two three four");
  EXPECT_EQ(text_size(lines).most_tokens, 4);
}

TEST(DataSize, OfNothingIsNothing) {
  EXPECT_EQ(text_size({}).tokens, 0);
  EXPECT_EQ(text_size({}).most_tokens, 0);
}

}  // namespace
}  // namespace heed::train
