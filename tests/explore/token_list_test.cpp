#include "heed/explore/token_list.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/expect_error.h"

namespace heed::explore {
namespace {

text::Tokenizer letters() {
  const std::vector<std::string> lines{"the bat"};
  return text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
}

TEST(TokenList, PiecesBelongToWordsAndSpecialTokensAreWordsOfTheirOwn) {
  const text::Tokenizer tokenizer = letters();
  std::vector<int> ids = tokenizer.encode("the bat");
  ids.insert(ids.begin(), text::own_tokens::begin);
  ids.push_back(text::own_tokens::end);
  const TokenList tokens = token_list(ids, tokenizer);
  EXPECT_EQ(tokens.word_texts, (std::vector<std::string>{"<s>", "the", "bat", "</s>"}));
  ASSERT_EQ(tokens.words.size(), ids.size());
  EXPECT_EQ(tokens.words.front(), 0);
  EXPECT_EQ(tokens.words.back(), 3);
  std::string joined;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(tokens.is_special[i], i == 0 || i + 1 == ids.size());
    if (tokens.words[i] == 2) joined += tokens.texts[i];
  }
  EXPECT_EQ(joined, " bat");  // the space is a token of its own
}

TEST(TokenList, WordsAreCalledAsTheTextCallsThem) {
  const text::Tokenizer tokenizer = letters();
  std::vector<int> ids = tokenizer.encode("the böt");
  ids.push_back(text::own_tokens::end);
  TokenList tokens = token_list(ids, tokenizer);
  ASSERT_EQ(tokens.word_texts.size(), 3u);
  EXPECT_NE(tokens.word_texts[1], "böt");  // the tokenizer has no such letter
  name_words(tokens, "the böt and more");
  EXPECT_NE(tokens.word_texts[1], "böt");  // of which words would these be the names?
  name_words(tokens, "  the böt");
  EXPECT_EQ(tokens.word_texts, (std::vector<std::string>{"the", "böt", "</s>"}));
}

TEST(TokenList, OfNothingIsEmpty) { EXPECT_TRUE(token_list({}, letters()).pieces.empty()); }

TEST(WithWordReplaced, ReplacesOneWordAndKeepsTheSpaces) {
  EXPECT_EQ(with_word_replaced("the  bat sleeps.", 1, "cat"), "the  cat sleeps.");
  EXPECT_EQ(with_word_replaced("the bat", 0, "a"), "a bat");
  EXPECT_EQ(with_word_replaced(" the bat ", 1, "two words"), " the two words ");
  expect_error(ErrorKind::usage, "replace: expected a word from 0 to 1, found 2",
               [] { with_word_replaced("the bat", 2, "x"); });
}

TEST(TokenList, ATextWithoutWordsHasNoneToReplace) {
  expect_error(ErrorKind::usage, "replace: expected a text with words, found none",
               [] { with_word_replaced(" ", 0, "bat"); });
}

}  // namespace
}  // namespace heed::explore
