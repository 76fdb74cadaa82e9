#include "heed/text/words.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

Tokenizer small_tokenizer(Subwords subwords) {
  const std::vector<std::string> lines{"a bat lives in the cave", "a cat sat on the mat",
                                       "the bat and the cat", "a cave in the mat"};
  const int vocabulary = subwords == Subwords::bpe ? 24 : 40;
  return Tokenizer::train(lines, {.vocabulary = vocabulary, .subwords = subwords});
}

std::vector<Index> numbers_of(const std::string& text, Subwords subwords) {
  const Tokenizer tokenizer = small_tokenizer(subwords);
  return words_of_pieces(tokenizer.encode(text), tokenizer);
}

TEST(WordsOfPieces, CountsWordsAsWhiteSpaceSeparatesThem) {
  EXPECT_EQ(numbers_of("the cat sat", Subwords::word), (std::vector<Index>{0, 1, 2}));
  // The white space before a word is a character of its own, and belongs to that word.
  EXPECT_EQ(numbers_of("a bat", Subwords::character), (std::vector<Index>{0, 0, 1, 1, 1, 1}));
  const std::vector<Index> pieces = numbers_of("the bat lives", Subwords::bpe);
  EXPECT_EQ(pieces.front(), 0);
  EXPECT_EQ(pieces.back(), 2);
  EXPECT_TRUE(std::ranges::is_sorted(pieces));
}

TEST(WordsOfPieces, SeveralSpacesAreOneAndSpacesAtTheEndsAreNoWords) {
  const std::vector<Index> words = numbers_of("  a   bat  ", Subwords::character);
  EXPECT_EQ(words.front(), 0);
  EXPECT_EQ(words.back(), 1);
  EXPECT_TRUE(numbers_of("", Subwords::character).empty());
}

TEST(Words, AreTheTextsBetweenWhiteSpace) {
  for (const Subwords subwords : {Subwords::bpe, Subwords::character, Subwords::word}) {
    const Tokenizer tokenizer = small_tokenizer(subwords);
    const std::vector<int> ids = tokenizer.encode("the bat lives");
    const Words words = words_of(ids, tokenizer);
    EXPECT_EQ(words.texts, (std::vector<std::string>{"the", "bat", "lives"}));
    EXPECT_EQ(words.word_of_piece, words_of_pieces(ids, tokenizer));
  }
}

}  // namespace
}  // namespace heed::text
