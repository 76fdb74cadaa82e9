#include "heed/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

TEST(Utf8, AcceptsTextOfOneToFourBytesACharacter) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("plain"));
  EXPECT_TRUE(is_valid_utf8("Schl\u00e4ger, \u732b, \U0001f987, \U0010ffff"));
  EXPECT_TRUE(is_valid_utf8(std::string("a\0b", 3)));
}

TEST(Utf8, SaysWhereTheFirstBadSequenceBegins) {
  EXPECT_EQ(first_invalid_byte("abcd\xff"), 4u);
  EXPECT_EQ(first_invalid_byte("\xc3\xa4\x80"), 2u) << "a continuation byte alone";
  EXPECT_EQ(first_invalid_byte("ab\xe7\x8c"), 2u) << "cut off";
  EXPECT_EQ(first_invalid_byte("\xc3("), 0u) << "no continuation byte";
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndTooLargeValues) {
  EXPECT_FALSE(is_valid_utf8("\xc0\xaf"));
  EXPECT_FALSE(is_valid_utf8("\xe0\x80\xaf"));
  EXPECT_FALSE(is_valid_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xf4\x90\x80\x80"));
}

TEST(Utf8, TellsTheLengthOfACharacterFromItsFirstByte) {
  EXPECT_EQ(utf8_length('a'), 1u);
  EXPECT_EQ(utf8_length("\u00e4"[0]), 2u);
  EXPECT_EQ(utf8_length("\u732b"[0]), 3u);
  EXPECT_EQ(utf8_length("\U0001f987"[0]), 4u);
}

}  // namespace
}  // namespace heed
