#include "heed/data/records.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<std::vector<std::string>>;

class Records : public testing::Test {
 protected:
  Values values(const std::string& name, const std::string& content, const Names& fields) const {
    Values values;
    for (const Record& record : read_records(folder_.write(name, content), fields)) {
      values.push_back(record.values);
    }
    return values;
  }

  // The message, without the folder.
  std::string error(const std::string& name, const std::string& content,
                    const Names& fields) const {
    try {
      values(name, content, fields);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(folder_.path() + "/")) << message;
      return message.substr(folder_.path().size() + 1);
    }
    ADD_FAILURE() << "no error: " << content;
    return "";
  }

  TemporaryFolder folder_;
  const Names labelled_{"label", "text"};
};

TEST_F(Records, OfTabsAreTakenByOrderWithoutAHeader) {
  EXPECT_EQ(values("a.tsv", "good\tI \"like\" it, yes\r\n\nbad\t\n", labelled_),
            (Values{{"good", "I \"like\" it, yes"}, {"bad", ""}}));
  EXPECT_EQ(values("b.tsv", "Hi.\tHallo!\tCC-BY\nRun!\tLauf!\tCC-BY\n", {"source", "target"}),
            (Values{{"Hi.", "Hallo!"}, {"Run!", "Lauf!"}}));
}

TEST_F(Records, OfTabsAreTakenByNameWithAHeader) {
  EXPECT_EQ(values("a.tsv", "id\ttext\tlabel\n1\tI like it\tgood\n", labelled_),
            (Values{{"good", "I like it"}}));
  // One of the names alone is a word like any other.
  EXPECT_EQ(values("b.tsv", "source\tQuelle\nwell\tBrunnen\n", {"source", "target"}),
            (Values{{"source", "Quelle"}, {"well", "Brunnen"}}));
}

TEST_F(Records, OfCommasAreTakenByNameOrWithoutANameByOrder) {
  EXPECT_EQ(values("a.csv", "text,label\n\"I like it, yes\",good\n", labelled_),
            (Values{{"good", "I like it, yes"}}));
  EXPECT_EQ(values("b.csv", "good,\"two\nlines\"\nbad,\"\"\"no\"\"\"\n", labelled_),
            (Values{{"good", "two\nlines"}, {"bad", "\"no\""}}));
}

TEST_F(Records, OfJsonTakeTheirFieldsFromObjects) {
  EXPECT_EQ(values("a.jsonl",
                   "{\"text\": \"I like\\tit \\u00fc\", \"label\": \"good\", \"other\": [1]}\n\n"
                   "{\"label\": 4, \"text\": \"\"}\n",
                   labelled_),
            (Values{{"good", "I like\tit \xc3\xbc"}, {"4", ""}}));
}

TEST_F(Records, SayTheLineWhereTheyBegin) {
  const auto records =
      read_records(folder_.write("a.csv", "label,text\na,\"b\nc\"\n\nd,e\n"), labelled_);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].line, 2u);
  EXPECT_EQ(records[1].line, 5u);
}

TEST_F(Records, MayBeCompressed) {
  const std::string path = folder_.write("a.tsv.gz", gzip("good\tyes\n"));
  EXPECT_EQ(read_records(path, labelled_)[0].values, (Names{"good", "yes"}));
}

TEST_F(Records, OfTabsRefuseLinesOfAnotherWidth) {
  EXPECT_EQ(error("a.tsv", "only text\n", labelled_),
            "a.tsv:1: expected 2 columns (label, text) with a tab between them, found 1");
  EXPECT_EQ(error("b.tsv", "good\tyes\nbad\tno\tnot\n", labelled_),
            "b.tsv:2: expected 2 columns, as in line 1, found 3");
  EXPECT_EQ(error("c.tsv", "label\ttext\tlabel\na\tb\tc\n", labelled_),
            "c.tsv:1: expected one column 'label', found several");
}

TEST_F(Records, OfCommasRefuseAHeaderThatDoesNotFit) {
  EXPECT_EQ(error("a.csv", "label,sentence\ngood,yes\n", labelled_),
            "a.csv:1: expected a column 'text', found label, sentence");
  EXPECT_EQ(error("b.csv", "1,good,yes\n", labelled_),
            "b.csv:1: expected a header with label, text, or 2 columns, found 3 columns: 1, good, "
            "yes");
  EXPECT_EQ(error("c.csv", "label,text\ngood\n", labelled_),
            "c.csv:2: expected 2 columns, as in line 1, found 1");
  EXPECT_EQ(error("d.csv", "label,text\na,\"b\n", labelled_),
            "d.csv:2: expected a closing quote, found the end of the file");
}

TEST_F(Records, OfJsonRefuseWhatIsNoObjectOfStrings) {
  EXPECT_EQ(error("a.jsonl", "{\"label\": \"a\", \"text\": \"b\"}\n{\"label\" 1}\n", labelled_),
            "a.jsonl:2: expected JSON, found a mistake at byte 10");
  EXPECT_EQ(error("b.jsonl", "[1, 2]\n", labelled_),
            "b.jsonl:1: expected a JSON object, found [1,2]");
  EXPECT_EQ(error("c.jsonl", "{\"label\": \"a\"}\n", labelled_),
            "c.jsonl:1: text: expected this field, found none");
  EXPECT_EQ(error("d.jsonl", "{\"label\": \"a\", \"text\": [\"b\"]}\n", labelled_),
            "d.jsonl:1: text: expected a string, found [\"b\"]");
}

TEST_F(Records, RefuseFilesThatHoldNoneOrAreOfAnotherKind) {
  EXPECT_EQ(error("a.tsv", "\n", labelled_),
            "a.tsv: expected records with label, text, found none");
  EXPECT_EQ(error("b.csv", "label,text\n", labelled_),
            "b.csv: expected records with label, text, found none");
  EXPECT_EQ(error("c.jsonl", "", labelled_),
            "c.jsonl: expected records with label, text, found none");
  EXPECT_EQ(error("d.txt", "a\tb\n", labelled_),
            "d.txt: expected a name that ends in .tsv, .csv or .jsonl, found '.txt'");
  EXPECT_EQ(error("e.tsv", "good\tb\nbad\t\xff\n", labelled_),
            "e.tsv:2: not valid UTF-8 at byte 5 (found 0xff)");
  EXPECT_THROW(read_records(folder_.file("absent.tsv"), labelled_), Error);
}

TEST_F(Records, ALongFirstLineIsCutBetweenCharacters) {
  std::string line, shown;
  for (int i = 0; i < 40; ++i) line += "\u00fc";
  for (int i = 0; i < 14; ++i) shown += "\u00fc";
  EXPECT_EQ(error("a.csv", line + "\n", labelled_),
            "a.csv:1: expected a header with label, text, or 2 columns, found 1 column: " + shown +
                "..." + shown);
}

TEST_F(Records, OfTwoFieldsAreParallelLines) {
  const text::ParallelLines lines =
      read_record_pairs(folder_.write("a.csv", "de,en\nHallo,Hi\nLauf,Run\n"), {"en", "de"});
  EXPECT_EQ(lines.source, (Names{"Hi", "Run"}));
  EXPECT_EQ(lines.target, (Names{"Hallo", "Lauf"}));
}

TEST(FieldNames, AreSplitAtCommas) {
  EXPECT_EQ(parse_field_names("en,de", 2, "`fields`"), (Names{"en", "de"}));
}

TEST(FieldNames, RefuseAnotherNumberEmptyOnesAndTwins) {
  for (const std::string names : {"", "en", "en,", ",de", "en,de,fr", "en,en"}) {
    try {
      parse_field_names(names, 2, "`fields`");
      ADD_FAILURE() << "no error: " << names;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_TRUE(std::string(error.what()).starts_with("`fields`: expected ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace heed::data
