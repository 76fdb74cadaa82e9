#include "heed/text/csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "heed/base/error.h"
#include "heed/text/lines.h"

namespace heed::text {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> parse(const std::vector<std::string>& lines,
                          CsvBlanks blanks = CsvBlanks::keep) {
  std::vector<Fields> rows;
  for (const CsvRow& row : parse_csv(lines, "a.csv", blanks)) rows.push_back(row.fields);
  return rows;
}

std::string error_of(const std::vector<std::string>& lines) {
  try {
    parse_csv(lines, "a.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Csv, FieldsEndAtCommasOutsideOfQuotes) {
  EXPECT_EQ(parse({"a,b,c", "\"a,b\",\"say \"\"c\"\"\"", ",", "a,"}),
            (std::vector<Fields>{{"a", "b", "c"}, {"a,b", "say \"c\""}, {"", ""}, {"a", ""}}));
}

TEST(Csv, QuotedFieldsGoOverLineEnds) {
  const auto rows =
      parse_csv(std::vector<std::string>{"a,\"one", "", "three\",b", "c,d,e"}, "a.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].fields, (Fields{"a", "one\n\nthree", "b"}));
  EXPECT_EQ(rows[0].line, 1u);
  EXPECT_EQ(rows[1].line, 4u);
}

TEST(Csv, BlanksAroundFieldsAreKeptOrSkippedButThoseInQuotesStay) {
  EXPECT_EQ(parse({" a ,\" b \",\tc"}), (std::vector<Fields>{{" a ", " b ", "\tc"}}));
  EXPECT_EQ(parse({" a , \" b \" ,\tc"}, CsvBlanks::skip),
            (std::vector<Fields>{{"a", " b ", "c"}}));
}

TEST(Csv, AQuoteWithinAPlainFieldIsAQuote) {
  EXPECT_EQ(parse({"5\" pipe,6\""}), (std::vector<Fields>{{"5\" pipe", "6\""}}));
}

TEST(Csv, BlankLinesBetweenRowsAreSkipped) {
  EXPECT_EQ(parse({"", "a", " \t", "b", ""}), (std::vector<Fields>{{"a"}, {"b"}}));
}

TEST(Csv, RefusesOpenQuotesAndTextBehindClosedOnes) {
  EXPECT_EQ(error_of({"a,b", "c,\"d", "e"}),
            "a.csv:2: expected a closing quote, found the end of the file");
  EXPECT_EQ(error_of({"\"a\" b,c"}),
            "a.csv:1: expected a comma after the closing quote, found 'b'");
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  for (const std::string text : {"plain", "a,b", "say \"a\"", " blanks ", "two\nlines", ""}) {
    std::istringstream in("x," + csv_field(text) + "\n");
    EXPECT_EQ(parse(read_lines(in, "a.csv")), (std::vector<Fields>{{"x", text}}));
  }
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("say \"a\", b"), "\"say \"\"a\"\", b\"");
  EXPECT_EQ(csv_field(" a"), "\" a\"");
}

}  // namespace
}  // namespace heed::text
