#include "heed/base/printable.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Printable, AnExcerptShowsBothEndsOfALongText) {
  EXPECT_EQ(excerpt("encoder.0.weight"), "encoder.0.weight");
  EXPECT_EQ(excerpt(std::string(70, 'a') + std::string(1'000'000, 'b') + "end", 13),
            "aaaaa...bbend");
  EXPECT_EQ(excerpt("aa\nbb"), "aa\\nbb");
}

TEST(Printable, ShorteningCutsNoCharacter) {
  EXPECT_EQ(shorten_middle("äöüäöü", 12), "äöüäöü");
  EXPECT_EQ(shorten_middle("äöüäöüß", 12), "äö...üß");
  EXPECT_EQ(shorten_middle("abcdef", 5), "a...f");
}

TEST(Printable, KnowsControlCharactersFromOrdinaryOnes) {
  for (const char* text : {"", "plain words", "Käse 猫 🏴\U000e0067\U000e007f", "👩\u200d🚀"}) {
    EXPECT_FALSE(has_control_characters(text)) << text;
  }
  for (const char* text : {"a\nb", "a\tb", "\x1b[0m", "\u0085", "\u2028", "\x7f", "\xff"}) {
    EXPECT_TRUE(has_control_characters(text)) << printable(text);
  }
}

}  // namespace
}  // namespace heed
