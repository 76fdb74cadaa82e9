#include "heed/text/encode_words.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

using Words = std::vector<std::string>;

const Words lines{"a bat lives in the cave", "a cat sat on the mat", "the bat and the cat"};

Tokenizer small_tokenizer(Subwords subwords, bool is_running_text = false) {
  const int vocabulary = subwords == Subwords::bpe ? 24 : 40;
  return Tokenizer::train(lines, {.vocabulary = vocabulary,
                                  .subwords = subwords,
                                  .is_running_text = is_running_text,
                                  .fit_vocabulary = true});
}

std::vector<int> with_end(std::vector<int> ids) {
  ids.push_back(own_tokens::end);
  return ids;
}

TEST(SplitWords, IsAtWhiteSpaceOfAnyKindAndLength) {
  EXPECT_EQ(split_words("  the\tcat \v sat\f"), (Words{"the", "cat", "sat"}));
  EXPECT_EQ(split_words("no\u00a0break"), Words{"no\u00a0break"});
  EXPECT_EQ(split_words(" \t "), Words{});
  EXPECT_EQ(join_words(split_words("  the\tcat  sat ")), "the cat sat");
  EXPECT_EQ(join_words(Words{}), "");
}

TEST(EncodeWords, GivesTheTokensOfTheLine) {
  for (const Subwords subwords :
       {Subwords::bpe, Subwords::unigram, Subwords::word, Subwords::character, Subwords::byte}) {
    const Tokenizer tokenizer = small_tokenizer(subwords);
    for (const std::string line : {"the mat lives", "a cave in the bat", "seven lives"}) {
      EXPECT_EQ(encode_words(split_words(line), tokenizer).ids, with_end(tokenizer.encode(line)))
          << name_of(subwords) << ": " << line;
    }
  }
}

TEST(EncodeWords, KnowsTheFirstTokenOfEachWord) {
  const Tokenizer tokenizer = small_tokenizer(Subwords::character);
  // A space belongs to the word after it.
  EXPECT_EQ(encode_words(Words{"a", "cat", "sat"}, tokenizer).first_token,
            (std::vector<Index>{0, 2, 6}));
  EXPECT_EQ(encode_words(Words{"a", "cat", "sat"}, small_tokenizer(Subwords::word)).first_token,
            (std::vector<Index>{0, 1, 2}));
}

TEST(EncodeWords, ATokenizerOfRunningTextGetsTheSpacesBetweenWords) {
  const Tokenizer tokenizer = small_tokenizer(Subwords::character, /*is_running_text=*/true);
  ASSERT_FALSE(tokenizer.has_space_before());
  const EncodedWords encoded = encode_words(Words{"a", "cat"}, tokenizer);
  EXPECT_EQ(encoded.ids, with_end(tokenizer.encode("a cat")));
  EXPECT_EQ(encoded.first_token, (std::vector<Index>{0, 1}));
}

TEST(EncodeWords, AWordHasTheSameTokensOnAnyLine) {
  const Tokenizer tokenizer = small_tokenizer(Subwords::bpe);
  const EncodedWords alone = encode_words(Words{"caves"}, tokenizer);
  const EncodedWords among = encode_words(Words{"the", "caves", "sat"}, tokenizer);
  const auto begin = among.ids.begin() + among.first_token[1];
  const auto end = among.ids.begin() + among.first_token[2];
  EXPECT_EQ(with_end({begin, end}), alone.ids);
}

TEST(EncodeWords, EveryWordHasATokenAndALineWithoutWordsHasNone) {
  const Tokenizer tokenizer = small_tokenizer(Subwords::bpe);
  const EncodedWords strange = encode_words(Words{"\u2603", "the"}, tokenizer);
  ASSERT_EQ(strange.first_token.size(), 2u);
  EXPECT_GT(strange.first_token[1], 0);
  EXPECT_EQ(encode_words(Words{}, tokenizer).ids, std::vector<int>{});
}

TEST(EncodeWords, OfManyLinesAreThoseOfEach) {
  const Tokenizer tokenizer = small_tokenizer(Subwords::bpe);
  std::vector<Words> many;
  for (int i = 0; i < 200; ++i) many.push_back(split_words(lines[i % 3]));
  many[7].clear();
  const std::vector<EncodedWords> encoded = encode_words(many, tokenizer);
  ASSERT_EQ(encoded.size(), many.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(encoded[i].ids, encode_words(many[i], tokenizer).ids);
    EXPECT_EQ(encoded[i].first_token, encode_words(many[i], tokenizer).first_token);
  }
}

}  // namespace
}  // namespace heed::text
