#include "heed/text/code_points.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(CodePoints, AreReadAndWrittenAsUtf8) {
  for (const char32_t c : {U'a', U'\u00e9', U'\u2581', U'\U0001f987'}) {
    EXPECT_EQ(to_code_points(to_utf8(c)), std::u32string(1, c));
  }
  EXPECT_EQ(count_code_points("a\u00e9\U0001f987"), 3U);
}

TEST(CodePoints, OfWhatIsNotUtf8AreReplacementCharacters) {
  EXPECT_EQ(repair_utf8("a\xff"
                        "b"),
            "a\ufffd"
            "b");
  EXPECT_EQ(repair_utf8("\xf0\x9f\xa6"), "\ufffd");
  EXPECT_EQ(repair_utf8("\xe2\x82\xe2\x82\xac"), "\ufffd\u20ac");
  EXPECT_EQ(repair_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(repair_utf8("\u00e9"), "\u00e9");
}

}  // namespace
}  // namespace heed::text
