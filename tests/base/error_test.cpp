#include "heed/base/error.h"

#include <gtest/gtest.h>

#include "heed/base/utf8.h"

namespace heed {
namespace {

std::string message(const std::string& text) { return Error(ErrorKind::model, text).what(); }

TEST(Error, AnOrdinaryMessageStaysAsItIs) {
  EXPECT_EQ(message("m/config.json: labels: expected Käse, found 猫 \"\\\""),
            "m/config.json: labels: expected Käse, found 猫 \"\\\"");
  EXPECT_EQ(message(std::string(max_message_bytes, 'a')), std::string(max_message_bytes, 'a'));
}

TEST(Error, AMessageIsOneLineThatNoTerminalObeys) {
  EXPECT_EQ(message("a\nb\rc\td\x1b[31m\x7f"), "a\\nb\\rc\\td\\x1b[31m\\x7f");
  EXPECT_EQ(message(std::string("nul\0end", 7)), "nul\\x00end");
  EXPECT_EQ(message("\u009b31m \u2028 \u202e \U000e0001"),
            "\\u009b31m \\u2028 \\u202e \\U000e0001");
}

TEST(Error, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(message("a\xff\xc3(\xed\xa0\x80 ä"), "a\\xff\\xc3(\\xed\\xa0\\x80 ä");
  EXPECT_EQ(message("cut \xe7\x8c"), "cut \\xe7\\x8c");
}

TEST(Error, ALongMessageKeepsTheFileAndTheReason) {
  for (const std::string& unit : {std::string("x"), std::string("ä"), std::string("猫"),
                                  std::string("🦇"), std::string("\x1b"), std::string("\xff")}) {
    for (int shift = 0; shift < 4; ++shift) {
      std::string name(shift, '-');
      for (int i = 0; i < 100'000; ++i) name += unit;
      const std::string text = message("m.safetensors: " + name + ": expected 3, found 4");
      EXPECT_LE(text.size(), max_message_bytes);
      EXPECT_TRUE(is_valid_utf8(text)) << text;
      EXPECT_TRUE(text.starts_with("m.safetensors: ")) << text;
      EXPECT_TRUE(text.ends_with(": expected 3, found 4")) << text;
      EXPECT_NE(text.find("..."), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace heed
