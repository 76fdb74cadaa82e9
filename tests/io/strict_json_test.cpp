#include "heed/io/strict_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace heed::io {
namespace {

using nlohmann::json;

json parse(std::string_view text, int max_depth = 4) {
  return parse_strict_json(text, "a.json", max_depth);
}

void expect_refused(const std::string& message, std::string_view text) {
  expect_error(ErrorKind::model, "a.json: " + message, [&] { parse(text); });
}

TEST(StrictJson, ReadsWhatTheOrdinaryParserReads) {
  for (const char* text :
       {"3", "\"ä\\n\\u732b\"", "[]", "{}", "null", "[1,-2,2.5,true,null,\"x\",[],{}]",
        R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":[2]}],"c":18446744073709551615})"}) {
    EXPECT_EQ(parse(text), json::parse(text)) << text;
  }
}

TEST(StrictJson, RefusesAKeyThatOccursTwiceInOneObject) {
  expect_refused("expected each key once, found \"a\" twice", R"({"a":1,"b":2,"a":1})");
  expect_refused("expected each key once, found \"a\" twice", R"({"b":[{"a":{},"a":{}}]})");
  expect_refused("expected each key once, found \"\\x1b\" twice", R"({"\u001b":1,"\u001b":1})");
}

TEST(StrictJson, RefusesDeepNestingAndBrokenText) {
  EXPECT_NO_THROW(parse("[[[[]]]]"));
  expect_refused("expected at most 4 levels of JSON, found more", "[[[[[]]]]]");
  expect_refused("expected at most 4 levels of JSON, found more", std::string(1'000'000, '['));
  expect_refused("expected JSON, found a mistake at byte 3", "{}x");
  expect_refused("expected JSON, found a number that is too large", "[1e999]");
  expect_refused("expected JSON, found a mistake at byte 3", std::string_view("{}\0x", 4));
  expect_refused("expected JSON, found a mistake in line 2, byte 4", std::string_view("{}\n\0", 4));
}

// With the time of each member proportional to their number, these would take many minutes.
TEST(StrictJson, TakesTimeProportionalToTheLengthOfTheText) {
  constexpr std::size_t count = 300'000;
  std::string list = "[{}", object = "{\"k\":[]";
  for (std::size_t i = 1; i < count; ++i) {
    list += ",{}";
    object += ",\"" + std::to_string(i) + "\":[]";
  }
  EXPECT_EQ(parse(list + "]").size(), count);
  EXPECT_EQ(parse(object + "}").size(), count);
}

}  // namespace
}  // namespace heed::io
