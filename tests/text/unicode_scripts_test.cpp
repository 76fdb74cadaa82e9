#include "heed/text/unicode_scripts.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(UnicodeScripts, AreThoseOfUnicode9) {
  EXPECT_EQ(script_of('a'), Script::latin);
  EXPECT_EQ(script_of(0x3042), Script::hiragana);
  EXPECT_EQ(script_of(0x61c), Script::common);
  EXPECT_EQ(script_of(0x20bf), Script::any) << "the bitcoin sign is of Unicode 10";
}

}  // namespace
}  // namespace heed::text
