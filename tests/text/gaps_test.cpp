#include "heed/text/gaps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"

namespace heed::text {
namespace {

std::vector<std::string> sample_lines() {
  std::vector<std::string> lines;
  for (const char* who : {"the cat", "the dog", "a bat"}) {
    for (const char* where : {"on the mat.", "in a cave.", "under the table."}) {
      lines.push_back(std::string(who) + " sat " + where);
    }
  }
  return lines;
}

Tokenizer tokenizer_of(Subwords subwords) {
  return Tokenizer::train(sample_lines(),
                          {.vocabulary = 45, .subwords = subwords, .with_mask = true});
}

TEST(Gaps, AMaskStandsWhereThePieceOfAWordWould) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::bpe);
  const std::vector<int> whole = tokenizer.encode("the cat sat on the mat.");
  const GappedLine line = encode_gaps(tokenizer, "the cat <mask> on the mat.", "<mask>");
  ASSERT_EQ(line.gaps.size(), 1u);
  EXPECT_TRUE(line.gaps[0].begins_word);
  std::vector<int> expected = whole;
  const std::vector<int> hidden = tokenizer.encode("sat");
  const auto at = std::ranges::search(expected, hidden);
  ASSERT_EQ(hidden.size(), 1u) << "the test wants a word of one piece";
  *at.begin() = *tokenizer.mask();
  EXPECT_EQ(line.ids, expected);
  EXPECT_EQ(line.ids[line.gaps[0].place], *tokenizer.mask());
}

TEST(Gaps, AtTheBeginningBehindASpaceAndWithinAWord) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::unigram);
  const GappedLine line = encode_gaps(tokenizer, "___ cat s___ on ___.", "___");
  ASSERT_EQ(line.gaps.size(), 3u);
  EXPECT_EQ(line.gaps[0].place, 0);
  EXPECT_TRUE(line.gaps[0].begins_word);
  EXPECT_FALSE(line.gaps[1].begins_word);
  EXPECT_TRUE(line.gaps[2].begins_word);
  for (const Gap& gap : line.gaps) EXPECT_EQ(line.ids[gap.place], *tokenizer.mask());
  EXPECT_EQ(std::ranges::count(line.ids, *tokenizer.mask()), 3);
}

TEST(Gaps, BetweenWordsThatAreWholePieces) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::word);
  const GappedLine line = encode_gaps(tokenizer, "the <mask> sat <mask>", "<mask>");
  std::vector<int> expected = tokenizer.encode("the dog sat mat.");
  expected[1] = expected[3] = *tokenizer.mask();
  EXPECT_EQ(line.ids, expected);
  ASSERT_EQ(line.gaps.size(), 2u);
  EXPECT_EQ(line.gaps[1].place, 3);
}

TEST(Gaps, OfCharactersKeepTheirSpaces) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::character);
  const GappedLine line = encode_gaps(tokenizer, "the <mask>at", "<mask>");
  std::vector<int> expected = tokenizer.encode("the cat");
  expected[5] = *tokenizer.mask();  // a space stands before every text
  EXPECT_EQ(line.ids, expected);
}

TEST(Gaps, ALineWithoutAnyIsEncodedAsItIs) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::bpe);
  const GappedLine line = encode_gaps(tokenizer, "the cat sat", "<mask>");
  EXPECT_TRUE(line.gaps.empty());
  EXPECT_EQ(line.ids, tokenizer.encode("the cat sat"));
}

TEST(Gaps, NeedATokenizerWithAMask) {
  const auto without = Tokenizer::train(sample_lines(), {.vocabulary = 45});
  EXPECT_THROW(encode_gaps(without, "the <mask>", "<mask>"), Error);
  EXPECT_THROW(encode_gaps(tokenizer_of(Subwords::bpe), "the", ""), Error);
}

}  // namespace
}  // namespace heed::text
