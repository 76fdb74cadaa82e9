#include "heed/cli/one_line.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using std::string_view_literals::operator""sv;

TEST(OneLine, EscapesWhatEndsALineOrAField) {
  EXPECT_EQ(on_one_line("a\nb\r\nc\td"), "a\\nb\\r\\nc\\td");
  EXPECT_EQ(on_one_line("\u0085 \u2028 \u2029"), "\\u0085 \\u2028 \\u2029");
}

TEST(OneLine, EscapesWhatATerminalObeys) {
  EXPECT_EQ(on_one_line("\x1b[31m\x07\x7f\v\f\0"sv), "\\x1b[31m\\x07\\x7f\\x0b\\x0c\\x00");
  EXPECT_EQ(on_one_line("\u009b0m"), "\\u009b0m");
}

TEST(OneLine, LeavesAllElseAsItIs) {
  for (const char* text : {"", "two words", "C:\\new", "\"é\" \u00a0 \u2027 \u202a 日本 🦇"}) {
    EXPECT_EQ(on_one_line(text), text);
  }
}

TEST(OneLine, FindsControlCharactersAfterHalfACharacter) {
  EXPECT_EQ(on_one_line("\xe2\x80\n\xc3\n\xff\n\xe2\x80"), "\xe2\x80\\n\xc3\\n\xff\\n\xe2\x80");
}

TEST(OneLine, PrintableTextKeepsLineEndsAndTabs) {
  EXPECT_EQ(on_several_lines("a\n\tb\r\x1b[0m\u2028"), "a\n\tb\\r\\x1b[0m\\u2028");
}

}  // namespace
}  // namespace heed::cli
