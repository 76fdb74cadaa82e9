#include "heed/cli/text_pair_lines.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(TextPairLines, HaveATabBetweenTheTexts) {
  const auto pairs = parse_text_pairs(Lines{"a b\tc", "d\te f"}, LineFormat::text, 1);
  EXPECT_EQ(pairs.first, (Lines{"a b", "d"}));
  EXPECT_EQ(pairs.second, (Lines{"c", "e f"}));
}

TEST(TextPairLines, AreArraysOfTwoStringsInJson) {
  const auto pairs = parse_text_pairs(Lines{R"(["a\tb", "c\nd"])"}, LineFormat::json, 1);
  EXPECT_EQ(pairs.first, Lines{"a\tb"});
  EXPECT_EQ(pairs.second, Lines{"c\nd"});
}

TEST(TextPairLines, OfAnotherFormAreRefusedByTheirNumber) {
  const auto parse = [](const std::string& line, LineFormat format) {
    parse_text_pairs(Lines{line}, format, 7);
  };
  expect_error(ErrorKind::data, "line 7: expected two texts with a tab between them, found 1",
               [&] { parse("a b", LineFormat::text); });
  expect_error(ErrorKind::data, "line 7: expected two texts with a tab between them, found 3",
               [&] { parse("a\tb\tc", LineFormat::text); });
  expect_error(ErrorKind::data, "line 7: expected a JSON array of two strings, found string",
               [&] { parse("\"a\"", LineFormat::json); });
  expect_error(ErrorKind::data, "line 7: expected a JSON array of two strings, found another array",
               [&] { parse("[\"a\", 1]", LineFormat::json); });
}

}  // namespace
}  // namespace heed::cli
