#include "heed/metrics/bleu_tokenizers.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

// The words with one space between.
std::string tokenize(std::string_view line, BleuTokenizer tokenizer) {
  std::string joined;
  for (const auto& word : tokenize_for_bleu(line, tokenizer)) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return joined;
}

TEST(BleuTokenizer, HasTheNamesOfSacrebleu) {
  for (const std::string_view name : {"13a", "none", "intl", "char"}) {
    EXPECT_EQ(name_of(parse_choice<BleuTokenizer>(name, "tokenizer")), name);
  }
  EXPECT_THROW(parse_choice<BleuTokenizer>("zh", "tokenizer"), Error);
}

TEST(BleuTokenizer, NoneLeavesWordsAsTheyAre) {
  EXPECT_EQ(tokenize("  a  b,c.\u3000d ", BleuTokenizer::none), "a b,c. d");
}

TEST(BleuTokenizer, Mteval13aSeparatesPunctuationButNotInNumbers) {
  const auto to_13a = [](std::string_view line) {
    return tokenize(line, BleuTokenizer::mteval_13a);
  };
  EXPECT_EQ(to_13a("Hello, world!"), "Hello , world !");
  EXPECT_EQ(to_13a("He paid $1,250.75 (twice)."), "He paid $ 1,250.75 ( twice ) .");
  EXPECT_EQ(to_13a("In 1999. Or 2000,"), "In 1999 . Or 2000 ,");
  EXPECT_EQ(to_13a("2-3 state-of-the-art"), "2 - 3 state-of-the-art");
  EXPECT_EQ(to_13a("It's ... \"so\""), "It's . . . \" so \"");
  EXPECT_EQ(to_13a("&quot;a &amp; b&quot; &lt;c&gt; <skipped>"), "\" a & b \" < c >");
  EXPECT_EQ(to_13a("wo-\nman\nand man"), "woman and man");
  EXPECT_EQ(to_13a("«Où?» 猫。x…"), "«Où ? » 猫。x…");
}

TEST(BleuTokenizer, InternationalSeparatesThePunctuationAndSymbolsOfAllScripts) {
  const auto to_intl = [](std::string_view line) {
    return tokenize(line, BleuTokenizer::international);
  };
  EXPECT_EQ(to_intl("«Où?» 猫。x…"), "« Où ? » 猫 。 x …");
  EXPECT_EQ(to_intl("10€ ≈ £8.50, l’an 2-3"), "10 € ≈ £ 8.50 , l ’ an 2-3");
  EXPECT_EQ(to_intl("&quot;"), "& quot ;");
  // A period after a number at the very end stays, and space there changes nothing.
  EXPECT_EQ(to_intl("Bis 2021."), "Bis 2021.");
  EXPECT_EQ(to_intl("Bis 2021. \u3000"), "Bis 2021.");
}

TEST(BleuTokenizer, CharacterMakesEveryCharacterAWord) {
  EXPECT_EQ(tokenize("ab ä猫.", BleuTokenizer::character), "a b ä 猫 .");
}

TEST(BleuTokenizer, FindsNothingInABlankLine) {
  for (const std::string_view name : {"13a", "none", "intl", "char"}) {
    EXPECT_TRUE(
        tokenize_for_bleu(" \u00a0", parse_choice<BleuTokenizer>(name, "tokenizer")).empty())
        << name;
    EXPECT_TRUE(tokenize_for_bleu("", parse_choice<BleuTokenizer>(name, "tokenizer")).empty())
        << name;
  }
}

}  // namespace
}  // namespace heed::metrics
