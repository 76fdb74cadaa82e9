#include "heed/text/encode_lines.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer trained = Tokenizer::train(
      std::vector<std::string>{"a bat in a cave", "a cat"}, {.subwords = Subwords::character});
  return trained;
}

// More than one thread takes at a time, with lines that have no tokens in between.
std::vector<std::string> many_lines() {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) lines.push_back(i % 7 == 3 ? "" : std::string(i % 11 + 1, 'a'));
  return lines;
}

TEST(EncodeLines, GivesEachLineItsOwnTokensInOrder) {
  const std::vector<std::string> lines = many_lines();
  const auto encoded = encode_lines(lines, tokenizer());
  ASSERT_EQ(encoded.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(encoded[i], tokenizer().encode(lines[i])) << i;
  }
}

TEST(EncodeLines, PutsTheEndTokenBehindLinesThatHaveTokens) {
  const std::vector<std::string> lines = many_lines();
  const auto plain = encode_lines(lines, tokenizer());
  const auto ended = encode_lines(lines, tokenizer(), LineForm::output);
  EXPECT_EQ(encode_lines(lines, tokenizer(), LineForm::input), ended);
  EXPECT_EQ(encode_lines(lines, tokenizer(), LineForm::prompt), plain);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<int> expected = plain[i];
    if (!lines[i].empty()) expected.push_back(Tokenizer::end);
    EXPECT_EQ(ended[i], expected) << i;
  }
}

TEST(EncodePairs, PutsBothTextsInOneSequenceWithTheirEndTokens) {
  const std::vector<std::string> first{"a bat", "", "a"}, second{"a cat", "a", ""};
  const auto encoded = encode_pairs(first, second, tokenizer());
  ASSERT_EQ(encoded.size(), 3u);
  std::vector<int> expected = tokenizer().encode("a bat");
  expected.push_back(Tokenizer::end);
  for (const int id : tokenizer().encode("a cat")) expected.push_back(id);
  expected.push_back(Tokenizer::end);
  EXPECT_EQ(encoded[0], expected);
  EXPECT_TRUE(encoded[1].empty());
  EXPECT_TRUE(encoded[2].empty());
}

}  // namespace
}  // namespace heed::text
