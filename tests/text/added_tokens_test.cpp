#include "heed/text/added_tokens.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "text/small_tokenizer_json.h"

namespace heed::text {
namespace {

using Tokens = std::vector<std::string>;

JsonTokenizer tokenizer(const Json& added, const Json& normalizer = nullptr) {
  return small_tokenizer(word_level({"[UNK]", "a", "b"}),
                         {{"added_tokens", added},
                          {"normalizer", normalizer},
                          {"pre_tokenizer", {{"type", "FixedLength"}, {"length", 1}}}});
}

Tokens tokens(const Json& added, const std::string& text, const Json& normalizer = nullptr) {
  return tokenizer(added, normalizer).encode(text).tokens;
}

TEST(AddedTokens, AreFoundBeforeATextIsSplitTheLongestFirst) {
  const Json added = Json::array({added_token("<s"), added_token("<s>")});
  EXPECT_EQ(tokens(added, "a<s>b<s"), (Tokens{"a", "<s>", "b", "<s"}));
}

TEST(AddedTokens, TakeTheSpacesBesideThem) {
  const Json added = Json::array({added_token("<m>", {{"lstrip", true}, {"rstrip", true}})});
  const Encoding encoding = tokenizer(added).encode("a \t<m>\u2003b");
  EXPECT_EQ(encoding.tokens, (Tokens{"a", " \t<m>\u2003", "b"}));
  EXPECT_EQ(encoding.offsets[1], (Offsets{1, 7}));
}

TEST(AddedTokens, AreSingleWordsIfTheyMustBe) {
  const Json added = Json::array({added_token("ab", {{"single_word", true}})});
  EXPECT_EQ(tokens(added, "ab-ab"), (Tokens{"ab", "[UNK]", "ab"}));
  EXPECT_EQ(tokens(added, "aab"), (Tokens{"a", "a", "b"}));
}

TEST(AddedTokens, AreLookedForInTheTextOrInTheNormalisedText) {
  const Json lower{{"type", "Lowercase"}};
  const Json raw = Json::array({added_token("AB")});
  EXPECT_EQ(tokens(raw, "ABab", lower), (Tokens{"AB", "a", "b"}));
  const Json normalized = Json::array({added_token("AB", {{"normalized", true}})});
  EXPECT_EQ(tokens(normalized, "ABa", lower), (Tokens{"ab", "a"}));
}

// The library takes no notice of the ids in a file.
TEST(AddedTokens, HaveTheirIdInTheVocabularyOrTheNextOne) {
  const JsonTokenizer both =
      tokenizer(Json::array({added_token("<x>", {{"id", 9}}), added_token("b", {{"id", 10}})}));
  EXPECT_EQ(both.id("<x>"), 3);
  EXPECT_EQ(both.id("b"), 2);
  EXPECT_EQ(both.encode("<x>b").ids, (std::vector<int>{3, 2}));
}

TEST(AddedTokens, OfTheSameTextAreRefused) {
  expect_error(ErrorKind::model,
               "tokenizer.json: added_tokens[1].content: expected each token once, found \"<x>\" "
               "again",
               [] {
                 tokenizer(Json::array({added_token("<x>"), added_token("<x>")}));
               });
}

}  // namespace
}  // namespace heed::text
