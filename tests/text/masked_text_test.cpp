#include "heed/text/masked_text.h"

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
  const int vocabulary = subwords == Subwords::unigram ? 27 : 45;  // what the lines allow
  return Tokenizer::train(sample_lines(),
                          {.vocabulary = vocabulary, .subwords = subwords, .with_mask = true});
}

TEST(MaskedLm, AMaskStandsWhereThePieceOfAWordWould) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::bpe);
  const std::vector<int> whole = tokenizer.encode("the cat sat on the mat.");
  const MaskedText line = encode_masked_text(tokenizer, "the cat <mask> on the mat.", "<mask>");
  ASSERT_EQ(line.masks.size(), 1u);
  EXPECT_TRUE(line.masks[0].begins_word);
  std::vector<int> expected = whole;
  const std::vector<int> hidden = tokenizer.encode("sat");
  const auto at = std::search(expected.begin(), expected.end(), hidden.begin(), hidden.end());
  ASSERT_EQ(hidden.size(), 1u) << "the test wants a word of one piece";
  *at = *tokenizer.mask();
  EXPECT_EQ(line.ids, expected);
  EXPECT_EQ(line.ids[line.masks[0].place], *tokenizer.mask());
}

TEST(MaskedLm, AtTheBeginningBehindASpaceAndWithinAWord) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::unigram);
  const MaskedText line = encode_masked_text(tokenizer, "___ cat s___ on ___.", "___");
  ASSERT_EQ(line.masks.size(), 3u);
  EXPECT_EQ(line.masks[0].place, 0);
  EXPECT_TRUE(line.masks[0].begins_word);
  EXPECT_FALSE(line.masks[1].begins_word);
  EXPECT_TRUE(line.masks[2].begins_word);
  for (const MaskPosition& mask : line.masks) EXPECT_EQ(line.ids[mask.place], *tokenizer.mask());
  EXPECT_EQ(std::ranges::count(line.ids, *tokenizer.mask()), 3);
}

TEST(MaskedLm, BetweenWordsThatAreWholePieces) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::word);
  const MaskedText line = encode_masked_text(tokenizer, "the <mask> sat <mask>", "<mask>");
  std::vector<int> expected = tokenizer.encode("the dog sat mat.");
  expected[1] = expected[3] = *tokenizer.mask();
  EXPECT_EQ(line.ids, expected);
  ASSERT_EQ(line.masks.size(), 2u);
  EXPECT_EQ(line.masks[1].place, 3);
}

TEST(MaskedLm, OfCharactersKeepTheirSpaces) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::character);
  const MaskedText line = encode_masked_text(tokenizer, "the <mask>at", "<mask>");
  std::vector<int> expected = tokenizer.encode("the cat");
  expected[5] = *tokenizer.mask();  // a space stands before every text
  EXPECT_EQ(line.ids, expected);
}

TEST(MaskedLm, ALineWithoutAnyIsEncodedAsItIs) {
  const Tokenizer tokenizer = tokenizer_of(Subwords::bpe);
  const MaskedText line = encode_masked_text(tokenizer, "the cat sat", "<mask>");
  EXPECT_TRUE(line.masks.empty());
  EXPECT_EQ(line.ids, tokenizer.encode("the cat sat"));
}

TEST(MaskedLm, NeedATokenizerWithAMask) {
  const auto without = Tokenizer::train(sample_lines(), {.vocabulary = 45});
  EXPECT_THROW(encode_masked_text(without, "the <mask>", "<mask>"), Error);
  EXPECT_THROW(encode_masked_text(tokenizer_of(Subwords::bpe), "the", ""), Error);
}

}  // namespace
}  // namespace heed::text
