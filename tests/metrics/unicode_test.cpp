#include "heed/metrics/unicode.h"

#include <gtest/gtest.h>

namespace heed::metrics {
namespace {

TEST(Unicode, DecodesAndEncodesEveryLengthOfCharacter) {
  const std::string text = "aä猫🦇";
  EXPECT_EQ(decode_utf8(text), U"aä猫🦇");
  EXPECT_EQ(encode_utf8(U"aä猫🦇"), text);
  EXPECT_EQ(decode_utf8("a\xff\xe7\x8c"), U"a\ufffd\ufffd\ufffd");
}

TEST(Unicode, KnowsWhatPythonCallsSpace) {
  const std::u32string spaces =
      U" \t\n\v\f\r\x1c\x1f\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000";
  for (const char32_t c : spaces) EXPECT_TRUE(is_space(c)) << static_cast<unsigned>(c);
  for (const char32_t c : U"a0_\x1b\u200b\ufeff\u180e") EXPECT_FALSE(is_space(c));
}

TEST(Unicode, KnowsLettersPunctuationSymbolsAndNumbers) {
  for (const char32_t c : std::u32string(U"aÄßʰǅ中")) EXPECT_TRUE(is_letter(c));
  for (const char32_t c : std::u32string(U"0_'²\u0301€ ")) EXPECT_FALSE(is_letter(c));
  for (const char32_t c : std::u32string(U"!_-([«»…—、。’")) EXPECT_TRUE(is_punctuation(c));
  for (const char32_t c : std::u32string(U"$+<^`|~€°≤💡")) EXPECT_TRUE(is_symbol(c));
  for (const char32_t c : std::u32string(U"09½²Ⅷ٣")) EXPECT_TRUE(is_number(c));
  for (const char32_t c : std::u32string(U"aÄ中 ")) {
    EXPECT_FALSE(is_punctuation(c) || is_symbol(c) || is_number(c));
  }
}

TEST(Unicode, LowersLettersAsPythonDoes) {
  EXPECT_EQ(lower_case("ABC ÄÖÜ ẞ 123"), "abc äöü ß 123");
  EXPECT_EQ(lower_case("İ"), "i\u0307");
  EXPECT_EQ(lower_case("ΟΔΥΣΣΕΥΣ"), "οδυσσευς");
  EXPECT_EQ(lower_case("ΣΑΣ. Σ Σ'Α ΑΣ'Α ΑΣ'"), "σας. σ σ'α ασ'α ας'");
}

TEST(Unicode, SplitsAtSpacesOfEveryKind) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(" one  two\u3000three\u00a0"), (Words{"one", "two", "three"}));
  EXPECT_EQ(split_words(" \t "), Words{});
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(trim_end(" one two\u3000\u00a0 \t"), " one two");
  EXPECT_EQ(trim_end(" 猫"), " 猫");
  EXPECT_EQ(trim_end(" \u2003"), "");
  EXPECT_EQ(trim("\u3000\t 猫 one\u00a0\n"), "猫 one");
  EXPECT_EQ(trim(" \u2003"), "");
}

}  // namespace
}  // namespace heed::metrics
