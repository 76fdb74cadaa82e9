#include "heed/io/json_fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

JsonFields fields(std::string_view text) { return JsonFields::parse(text, "config.json"); }

void expect_refused(const std::string& message, const std::function<void()>& action) {
  expect_error(ErrorKind::model, "config.json: " + message, action);
}

TEST(JsonFields, ReadsEachTypeOfField) {
  const JsonFields config = fields(R"({
    "heads": 4, "rate": 0.5, "whole": 2, "tied": true, "norm": "after", "name": "Grüße",
    "sizes": [1, 2], "betas": [0.9, 1], "words": ["a", "b"], "training": {"step": 7},
    "nobody": {"asks": "for this"}
  })");
  EXPECT_EQ(config.integer("heads", {.min = 1}), 4);
  EXPECT_EQ(config.number("rate"), 0.5);
  EXPECT_EQ(config.number("whole"), 2.0);
  EXPECT_TRUE(config.boolean("tied"));
  EXPECT_EQ(config.choice("norm", {"before", "after"}), "after");
  EXPECT_EQ(config.text("name"), "Grüße");
  EXPECT_EQ(config.integers("sizes"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(config.numbers("betas"), (std::vector<double>{0.9, 1.0}));
  EXPECT_EQ(config.texts("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.object("training").integer("step"), 7);
}

TEST(JsonFields, AnObjectOutlivesTheWhole) {
  const JsonFields part = fields(R"({"a": {"b": {"c": 5}}})").object("a").object("b");
  EXPECT_EQ(part.integer("c"), 5);
}

TEST(JsonFields, AbsentAndNullGiveTheFallback) {
  const JsonFields config = fields(R"({"null": null})");
  for (const std::string name : {"null", "absent"}) {
    EXPECT_FALSE(config.has(name));
    EXPECT_EQ(config.integer_or(name, 3), 3);
    EXPECT_EQ(config.number_or(name, 0.25), 0.25);
    EXPECT_EQ(config.text_or(name, "x"), "x");
    EXPECT_EQ(config.choice_or(name, "y", {"y", "z"}), "y");
    expect_refused(name + ": expected this field, found none", [&] { config.integer(name); });
  }
}

TEST(JsonFields, WrongTypesAreRefusedWithWhatWasExpectedAndFound) {
  const JsonFields config = fields(R"({"f": "four", "n": 1.5, "o": {"i": true}, "l": [1, "x"]})");
  expect_refused(R"(f: expected a positive integer, found "four")",
                 [&] { config.integer("f", {.min = 1}); });
  expect_refused("n: expected an integer, found 1.5", [&] { config.integer("n"); });
  expect_refused(R"(f: expected a number from 0 to 1, found "four")",
                 [&] { config.number_or("f", 0.5, {.min = 0.0, .max = 1.0}); });
  expect_refused(R"(f: expected true or false, found "four")", [&] { config.boolean("f"); });
  expect_refused("n: expected a string, found 1.5", [&] { config.text("n"); });
  expect_refused(R"(f: expected one of before, after, found "four")", [&] {
    config.choice("f", {"before", "after"});
  });
  expect_refused("n: expected one of before, found 1.5", [&] { config.choice("n", {"before"}); });
  expect_refused(R"(f: expected a list, found "four")", [&] { config.integers("f"); });
  expect_refused(R"(l: expected an integer, found "x")", [&] { config.integers("l"); });
  expect_refused("l: expected a list of strings, found 1", [&] { config.texts("l"); });
  expect_refused("n: expected an object, found 1.5", [&] { config.object("n"); });
  expect_refused("o.i: expected an integer, found true", [&] { config.object("o").integer("i"); });
}

TEST(JsonFields, NumbersOutOfRangeAreRefused) {
  const JsonFields config = fields(R"({"zero": 0, "nine": 9, "huge": 18446744073709551615})");
  expect_refused("zero: expected a positive integer, found 0",
                 [&] { config.integer("zero", {.min = 1}); });
  expect_refused("nine: expected an integer from 1 to 8, found 9",
                 [&] { config.integer("nine", {.min = 1, .max = 8}); });
  expect_refused("zero: expected an integer of at least 2, found 0",
                 [&] { config.integer("zero", {.min = 2}); });
  expect_refused("nine: expected an integer of at most 8, found 9",
                 [&] { config.integer("nine", {.max = 8}); });
  expect_refused("huge: expected an integer, found 18446744073709551615",
                 [&] { config.integer("huge"); });
  expect_refused("nine: expected a number of at most 1, found 9",
                 [&] { config.number("nine", {.max = 1.0}); });
}

TEST(JsonFields, BrokenJsonIsRefusedWithItsPlace) {
  expect_refused("expected JSON, found a mistake in line 2, byte 7", [] { fields("{\"a\"\n:}"); });
  expect_refused("expected JSON, found a mistake at byte 1", [] { fields(""); });
  expect_refused("expected a JSON object, found [1]", [] { fields("[1]"); });
  expect_refused("expected JSON, found a number that is too large",
                 [] { fields(R"({"a": 1e400})"); });
  expect_refused(R"(expected each key once, found "a" twice)",
                 [] { fields(R"({"b": {"a": 1}, "a": 1, "a": 2})"); });
  expect_refused("expected at most 64 levels of JSON, found more",
                 [] { fields(std::string(1'000'000, '[')); });
}

TEST(JsonFields, LongValuesAreCutInMessages) {
  const JsonFields config = fields(R"({"a": ")" + std::string(1000, 'x') + R"("})");
  expect_refused("a: expected an integer, found \"" + std::string(28, 'x') + "..." +
                     std::string(27, 'x') + "\"",
                 [&] { config.integer("a"); });
}

TEST(JsonFields, WhatMayBeAbsentIsOptional) {
  const JsonFields config = fields(R"({"a": 1, "b": "x", "c": null})");
  EXPECT_EQ(config.optional_integer("a"), 1);
  EXPECT_EQ(config.optional_integer("c"), std::nullopt);
  EXPECT_EQ(config.optional_text("b"), "x");
  EXPECT_EQ(config.optional_text("d"), std::nullopt);
  expect_refused("b: expected an integer, found \"x\"", [&] { config.optional_integer("b"); });
  expect_refused("a: expected a string, found 1", [&] { config.optional_text("a"); });
}

TEST(JsonFields, ListsOfObjectsNameTheirPlaces) {
  const JsonFields config = fields(R"({"heads": [{"scale": 2}, {"scale": "two"}], "links": [1]})");
  const std::vector<JsonFields> heads = config.optional_objects("heads");
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0].number("scale"), 2);
  expect_refused("heads[1].scale: expected a number, found \"two\"",
                 [&] { heads[1].number("scale"); });
  expect_refused("links[0]: expected an object, found 1",
                 [&] { config.optional_objects("links"); });
  EXPECT_TRUE(config.optional_objects("none").empty());
}

TEST(JsonFields, TakesJsonThatWasParsedBefore) {
  EXPECT_EQ(JsonFields::of({{"a", 1}}, "request").integer("a"), 1);
  expect_error(ErrorKind::usage, "request: expected a JSON object, found [1]",
               [] { JsonFields::of(nlohmann::json::array({1}), "request", ErrorKind::usage); });
}

TEST(JsonFields, LoadsAFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("config.json"), R"({"a": 1})");
  EXPECT_EQ(JsonFields::load(folder.file("config.json")).integer("a"), 1);
  EXPECT_THROW(JsonFields::load(folder.file("other.json")), Error);
}

}  // namespace
}  // namespace heed::io
