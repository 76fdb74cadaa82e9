#include "heed/data/tagged_lines.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

using Words = std::vector<std::string>;

void expect_refused(const std::string& path, const std::string& message) {
  expect_error(ErrorKind::data, path + message, [&] { read_tagged_lines(path); });
}

void expect_two_sentences(const std::string& path) {
  SCOPED_TRACE(path);
  const auto lines = read_tagged_lines(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].words, (Words{"Ada", "was", "in", "London"}));
  EXPECT_EQ(lines[0].tags, (Words{"B-PER", "O", "O", "B-LOC"}));
  EXPECT_EQ(lines[1].words, (Words{"Rain", "again"}));
  EXPECT_EQ(lines[1].tags, (Words{"O", "O"}));
}

TEST(TaggedLines, AreWordsAndTagsInColumnsOrInObjects) {
  const TemporaryFolder folder;
  expect_two_sentences(
      folder.write("a.conll", "Ada\tB-PER\nwas\tO\nin\tO\nLondon\tB-LOC\n\nRain\tO\nagain\tO\n"));
  expect_two_sentences(
      folder.write("conll2003.txt",
                   "-DOCSTART- -X- -X- O\n\nAda NNP B-NP B-PER\nwas VBD B-VP O\nin IN B-PP O\n"
                   "London NNP B-NP B-LOC\n\n-DOCSTART- -X- O\n\n\nRain NN B-NP O\n"
                   "again RB B-ADVP O"));
  expect_two_sentences(folder.write(
      "a.jsonl",
      R"({"tokens": ["Ada", "was", "in", "London"], "tags": ["B-PER", "O", "O", "B-LOC"]})"
      "\n\n"
      R"({"id": "7", "tokens": ["Rain", "again"], "ner_tags": ["O", "O"]})"
      "\n"
      R"({"tokens": [], "tags": []})"));
  expect_two_sentences(
      folder.write("a.tsv.gz", gzip("Ada\tB-PER\r\nwas\tO\r\nin\tO\r\nLondon\tB-LOC\r\n \r\n"
                                    "Rain\tO\r\nagain\tO\r\n")));
}

TEST(TaggedLines, RememberWhereEachWordStood) {
  const TemporaryFolder folder;
  const auto rows = read_tagged_lines(folder.write("a", "\na X\nb Y\n\nc X\n"));
  EXPECT_EQ(rows[0].numbers, (std::vector<Index>{2, 3}));
  EXPECT_EQ(rows[1].numbers, (std::vector<Index>{5}));
  const auto objects = read_tagged_lines(
      folder.write("a.jsonl", "\n{\"tokens\": [\"a\", \"b\"], \"tags\": [\"X\", \"Y\"]}\n"));
  EXPECT_EQ(objects[0].numbers, (std::vector<Index>{2, 2}));
}

TEST(TaggedLines, WithAWordWithoutATagAreRefusedByFileAndLine) {
  const TemporaryFolder folder;
  expect_refused(folder.write("a", "the X\ncat\n"),
                 ":2: expected a word and its tag, found 1 column");
  expect_refused(folder.write("b", "the DT O\n\ncat NN\n"),
                 ":3: expected 3 columns, as in line 1, found 2");
  expect_refused(folder.write("c.jsonl", "{\"tokens\": [\"a\", \"b\"], \"tags\": [\"X\"]}\n"),
                 ":1: expected a tag for each of 2 tokens, found 1");
  expect_refused(folder.write("d", "\n-DOCSTART- O\n\n"), ": expected words with tags, found none");
  expect_refused(folder.write("e", "the X\n\xff X\n"),
                 ":2: not valid UTF-8 at byte 1 (found 0xff)");
}

TEST(TaggedLines, WithObjectsThatAreNoneOrHoldNumbersAreRefusedByFileAndLine) {
  const TemporaryFolder folder;
  expect_refused(folder.write("a.jsonl", "{\"tokens\": [\"a\"], \"ner_tags\": [3]}\n"),
                 ":1: ner_tags: expected a list of strings, found 3");
  expect_refused(folder.write("b.jsonl", "{\"words\": [\"a\"], \"tags\": [\"X\"]}\n"),
                 ":1: tokens: expected this field, found none");
}

// Neither could be told from several where they are printed on one line.
TEST(TaggedLines, WithWhiteSpaceInAWordOrATagAreRefused) {
  const TemporaryFolder folder;
  const auto object = [](const std::string& word, const std::string& tag) {
    return R"({"tokens": [")" + word + R"("], "tags": [")" + tag + "\"]}\n";
  };
  expect_refused(folder.write("a.jsonl", object("New York", "X")),
                 ":1: expected a word without white space, found \"New York\"");
  expect_refused(folder.write("b.jsonl", object("", "X")),
                 ":1: expected a word without white space, found \"\"");
  expect_refused(folder.write("c.jsonl", object("York", "X Y")),
                 ":1: expected a tag without white space, found \"X Y\"");
  expect_refused(
      folder.write("d", "York \x1b[31m\n"),
      ":1: expected a label on one line, without control characters, found \"\\x1b[31m\"");
}

TEST(TaggedLines, HaveTheirTagsInTheOrderOfTheAlphabet) {
  const std::vector<TaggedLine> lines{{{"a", "b"}, {"X", "Y"}, {1, 2}}, {{"c"}, {"O"}, {4}}};
  const Words tags = distinct_tags(lines);
  EXPECT_EQ(tags, (Words{"O", "X", "Y"}));
  EXPECT_EQ(tag_numbers(lines, tags, "f"), (std::vector<std::vector<int>>{{1, 2}, {0}}));
  EXPECT_EQ(texts_of(lines), (Words{"a b", "c"}));
}

TEST(TaggedLines, WithAnUnknownTagAreRefusedByTagFileAndLine) {
  const std::vector<TaggedLine> lines{{{"a", "b"}, {"X", "Y"}, {1, 2}}};
  expect_error(ErrorKind::data, "test.conll:2: expected one of the 2 tags of the model, found Y",
               [&] {
                 tag_numbers(lines, Words{"O", "X"}, "test.conll");
               });
}

}  // namespace
}  // namespace heed::data
