#include "heed/text/unicode_classes.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(UnicodeClasses, KnowSpacesWordsAndPunctuation) {
  EXPECT_TRUE(is_white_space(0x85) && is_white_space(0x3000) && is_white_space('\v'));
  EXPECT_FALSE(is_white_space(0x200b) || is_white_space('a'));
  EXPECT_TRUE(is_word_character('_') && is_word_character(0x301) && is_word_character(0x200d));
  EXPECT_FALSE(is_word_character('-') || is_word_character(0x2581) || is_word_character(0xb2));
  EXPECT_TRUE(is_word_character(0xb5) && is_word_character(0x24b6) && is_word_character('7'));
  EXPECT_TRUE(is_punctuation('$') && is_punctuation(0x3002) && is_punctuation(0x166d));
  EXPECT_FALSE(is_punctuation(0x20ac) || is_punctuation(0x2e52));
}

TEST(UnicodeClasses, KnowNumbersMarksAndControls) {
  EXPECT_TRUE(is_numeric('7') && is_numeric(0xbd) && is_numeric(0x10d40));
  EXPECT_TRUE(is_mark(0x301) && is_mark(0x903) && !is_mark('a') && !is_mark(0x898));
  EXPECT_TRUE(is_nonspacing_mark(0x301) && !is_nonspacing_mark(0x903));
  EXPECT_TRUE(is_bert_control(0) && is_bert_control(0xad) && is_bert_control(0xfffd));
  EXPECT_FALSE(is_bert_control('\n') || is_bert_control(0x378));
  EXPECT_TRUE(is_chinese(0x4f60) && !is_chinese(0x3042) && !is_chinese(0x2b820));
}

TEST(UnicodeClasses, KnowCasesOfCharactersNewerThanTheTablesOfUtf8proc) {
  EXPECT_EQ(simple_lower_case(0x1c89), 0x1c8aU);
  EXPECT_EQ(simple_lower_case(0x10d65), 0x10d85U);
  EXPECT_EQ(simple_lower_case(0x3a3), 0x3c3U);
}

}  // namespace
}  // namespace heed::text
