#include "heed/data/records.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"
#include "support/zstd.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;
using Roles = std::vector<FieldRole>;
using Values = std::vector<std::vector<std::string>>;

class RecordsTest : public testing::Test {
 protected:
  Values values(const std::string& name, const std::string& content, const Roles& roles,
                const RecordOptions& options = {}) const {
    const Records read = read_records(folder_.write(name, content), roles, options);
    Values values;
    for (const Record& record : read.records) values.push_back(record.values);
    return values;
  }

  // The message, without the folder.
  std::string error(const std::string& name, const std::string& content, const Roles& roles,
                    const RecordOptions& options = {}) const {
    try {
      values(name, content, roles, options);
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
  const Roles& labelled_ = labelled_roles();
  const Roles& pairs_ = pair_roles();
};

TEST_F(RecordsTest, OfTabsAreTakenByOrderWithoutAHeader) {
  EXPECT_EQ(values("a.tsv", "good\tI \"like\" it, yes\r\n\nbad\t\n", labelled_),
            (Values{{"good", "I \"like\" it, yes"}, {"bad", ""}}));
  EXPECT_EQ(values("b.tsv", "Hi.\tHallo!\tCC-BY\nRun!\tLauf!\tCC-BY\n", pairs_),
            (Values{{"Hi.", "Hallo!"}, {"Run!", "Lauf!"}}));
}

TEST_F(RecordsTest, OfTabsAreTakenByNameWithAHeader) {
  EXPECT_EQ(values("a.tsv", "id\ttext\tlabel\n1\tI like it\tgood\n", labelled_),
            (Values{{"good", "I like it"}}));
  // One of the names alone is a word like any other.
  EXPECT_EQ(values("b.tsv", "source\tQuelle\nwell\tBrunnen\n", pairs_),
            (Values{{"source", "Quelle"}, {"well", "Brunnen"}}));
}

TEST_F(RecordsTest, OfCommasAreTakenByNameOrWithoutANameByOrder) {
  EXPECT_EQ(values("a.csv", "text,label\n\"I like it, yes\",good\n", labelled_),
            (Values{{"good", "I like it, yes"}}));
  EXPECT_EQ(values("b.csv", "good,\"two\nlines\"\nbad,\"\"\"no\"\"\"\n", labelled_),
            (Values{{"good", "two\nlines"}, {"bad", "\"no\""}}));
}

TEST_F(RecordsTest, OfJsonTakeTheirFieldsFromObjects) {
  EXPECT_EQ(values("a.jsonl",
                   "{\"text\": \"I like\\tit \\u00fc\", \"label\": \"good\", \"other\": [1]}\n\n"
                   "{\"label\": 4, \"text\": \"\"}\n",
                   labelled_),
            (Values{{"good", "I like\tit \xc3\xbc"}, {"4", ""}}));
}

TEST_F(RecordsTest, SayTheLineWhereTheyBegin) {
  const auto records =
      read_records(folder_.write("a.csv", "label,text\na,\"b\nc\"\n\nd,e\n"), labelled_).records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].line, 2u);
  EXPECT_EQ(records[1].line, 5u);
}

TEST_F(RecordsTest, MayBeCompressed) {
  const std::string path = folder_.write("a.tsv.gz", gzip("good\tyes\n"));
  EXPECT_EQ(read_records(path, labelled_).records[0].values, (Names{"good", "yes"}));
  const std::string zst = folder_.write("a.tsv.zst", zstd("good\tyes\n"));
  EXPECT_EQ(read_records(zst, labelled_).records[0].values, (Names{"good", "yes"}));
}

TEST_F(RecordsTest, OfTabsRefuseLinesOfAnotherWidth) {
  EXPECT_EQ(error("a.tsv", "only text\n", labelled_),
            "a.tsv:1: expected 2 columns (label, text) with a tab between them, found 1");
  EXPECT_EQ(error("b.tsv", "good\tyes\nbad\tno\tnot\n", labelled_),
            "b.tsv:2: expected 2 columns, as in line 1, found 3");
  EXPECT_EQ(error("c.tsv", "label\ttext\tlabel\na\tb\tc\n", labelled_),
            "c.tsv:1: expected one column 'label', found several: label, text, label; say which "
            "with `fields` LABEL,TEXT, or `no_header` if that is data");
}

TEST_F(RecordsTest, OfCommasRefuseAHeaderThatDoesNotFit) {
  EXPECT_EQ(error("a.csv", "label,words\ngood,yes\n", labelled_),
            "a.csv:1: expected a column 'text', found label, words; say which with `fields` "
            "LABEL,TEXT, or `no_header` if that is data");
  EXPECT_EQ(error("b.csv", "1,good,yes\n", labelled_),
            "b.csv:1: expected a header with label, text, or 2 columns, found 3 columns: 1, good, "
            "yes");
  EXPECT_EQ(error("c.csv", "label,text\ngood\n", labelled_),
            "c.csv:2: expected 2 columns, as in line 1, found 1");
  EXPECT_EQ(error("d.csv", "label,text\na,\"b\n", labelled_),
            "d.csv:2: expected a closing quote, found the end of the file");
}

TEST_F(RecordsTest, OfJsonRefuseWhatIsNoObjectOfStrings) {
  EXPECT_EQ(error("a.jsonl", "{\"label\": \"a\", \"text\": \"b\"}\n{\"label\" 1}\n", labelled_),
            "a.jsonl:2: expected JSON, found a mistake at byte 10");
  EXPECT_EQ(error("b.jsonl", "[1, 2]\n", labelled_),
            "b.jsonl:1: expected a JSON object, found [1,2]");
  EXPECT_EQ(error("c.jsonl", "{\"label\": \"a\"}\n", labelled_),
            "c.jsonl:1: text: expected this field, found none");
  EXPECT_EQ(error("d.jsonl", "{\"label\": \"a\", \"text\": [\"b\"]}\n", labelled_),
            "d.jsonl:1: text: expected a string, found [\"b\"]");
}

TEST_F(RecordsTest, RefuseFilesThatHoldNoneOrAreOfAnotherKind) {
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

TEST_F(RecordsTest, ALongFirstLineIsCutBetweenCharacters) {
  std::string line, shown;
  for (int i = 0; i < 40; ++i) line += "\u00fc";
  for (int i = 0; i < 14; ++i) shown += "\u00fc";
  EXPECT_EQ(error("a.csv", line + "\n", labelled_),
            "a.csv:1: expected a header with label, text, or 2 columns, found 1 column: " + shown +
                "..." + shown);
}

TEST_F(RecordsTest, OfTwoFieldsAreParallelLines) {
  const text::ParallelLines lines =
      read_record_pairs(folder_.write("a.csv", "de,en\nHallo,Hi\nLauf,Run\n"),
                        {.fields = {"en", "de"}})
          .lines;
  EXPECT_EQ(lines.source, (Names{"Hi", "Run"}));
  EXPECT_EQ(lines.target, (Names{"Hallo", "Lauf"}));
}

TEST_F(RecordsTest, MayBePromptsAndAnswers) {
  for (const char* header :
       {"prompt,completion", "Prompt,response", "question,answer", "instruction,output"}) {
    const auto [lines, columns] = read_record_pairs(
        folder_.write("a.csv", std::string(header) + "\nWhich?,This.\n"), {}, prompt_roles());
    EXPECT_EQ(lines.source, Names{"Which?"}) << header;
    EXPECT_EQ(lines.target, Names{"This."}) << header;
  }
  EXPECT_EQ(error("b.csv", "instruction,input,output\na b c d,e,f\n", prompt_roles()),
            "b.csv:1: expected one column 'prompt', found several: instruction, input, output; say "
            "which with `fields` PROMPT,ANSWER, or `no_header` if that is data");
}

TEST_F(RecordsTest, AHeaderIsRecognisedByItsWords) {
  EXPECT_EQ(values("a.tsv", "text\tcategory\nhello there\tgreeting\n", labelled_),
            (Values{{"greeting", "hello there"}}));
  EXPECT_EQ(values("b.csv", "Category,Utterance\ngreeting,hello there\n", labelled_),
            (Values{{"greeting", "hello there"}}));
  EXPECT_EQ(values("c.tsv", "summary\tarticle\nshort\tlong\n", pairs_),
            (Values{{"long", "short"}}));
  EXPECT_EQ(values("d.jsonl", "{\"answer\": \"blue\", \"question\": \"which\"}\n", pairs_),
            (Values{{"which", "blue"}}));
  EXPECT_EQ(values("e.tsv", "id\tsentence\tlabel\n1\tyes\tgood\n", labelled_),
            (Values{{"good", "yes"}}));
}

TEST_F(RecordsTest, WordsOfAHeaderThatAreDataStayData) {
  EXPECT_EQ(values("a.tsv", "greeting\thello there\nbye\tsee you soon then\n", labelled_).size(),
            2u);
  // A label that comes again, a text with another word, equal words, a text of many words.
  EXPECT_EQ(values("b.tsv", "question\tquery\nquestion\thow do I do that\n", labelled_).size(), 2u);
  EXPECT_EQ(values("c.tsv", "question\tFrage\nanswer\tAntwort\n", pairs_).size(), 2u);
  EXPECT_EQ(values("d.tsv", "question\tquestion\ndo you see the cat\tvois-tu\n", pairs_).size(),
            2u);
  EXPECT_EQ(values("e.tsv", "review\tthe text was about it\nlabel\tno\n", labelled_).size(), 2u);
}

TEST_F(RecordsTest, AHeaderThatDoesNotSayWhichIsWhichIsRefused) {
  EXPECT_EQ(error("a.tsv", "question\tcontext\tanswer\na b\tc\td\n", pairs_),
            "a.tsv:1: expected one column 'source', found several: question, context, answer; say "
            "which with `fields` SOURCE,TARGET, or `no_header` if that is data");
  EXPECT_EQ(error("b.tsv", "review\tpolarity\nI did like it a lot\tgood\n", labelled_),
            "b.tsv:1: expected a column 'label', found review, polarity; say which with `fields` "
            "LABEL,TEXT, or `no_header` if that is data");
  EXPECT_EQ(error("c.tsv", "en\tde\nThe cat sat down.\tDie Katze.\n", pairs_),
            "c.tsv:1: expected a column 'source', found en, de; say which with `fields` "
            "SOURCE,TARGET, or `no_header` if that is data");
  EXPECT_EQ(
      error("d.jsonl", "{\"question\": \"a\", \"context\": \"b\", \"answer\": \"c\"}\n", pairs_),
      "d.jsonl:1: expected one member for the source, found answer, context, question; say "
      "which with `fields` SOURCE,TARGET");
}

TEST_F(RecordsTest, FieldsNameTheColumnsOfEveryRole) {
  const RecordOptions named{.fields = {"polarity", "REVIEW"}};
  EXPECT_EQ(values("a.tsv", "review\tpolarity\nyes\tgood\n", labelled_, named),
            (Values{{"good", "yes"}}));
  EXPECT_EQ(values("b.jsonl", "{\"polarity\": 1, \"review\": \"yes\"}\n", labelled_, named),
            (Values{{"1", "yes"}}));
  EXPECT_EQ(error("c.tsv", "good\tyes\n", labelled_, named),
            "c.tsv:1: expected a column 'polarity', found good, yes; without a header, `fields` "
            "takes numbers, like 1,2");
}

TEST_F(RecordsTest, FieldsMayBeNumbersOfColumns) {
  const RecordOptions numbers{.fields = {"3", "1"}};
  EXPECT_EQ(values("a.tsv", "yes\tx\tgood\nno\ty\tbad\n", labelled_, numbers),
            (Values{{"good", "yes"}, {"bad", "no"}}));
  EXPECT_EQ(values("b.csv", "text,id,label\nyes,4,good\n", labelled_, numbers),
            (Values{{"good", "yes"}}));
  EXPECT_EQ(error("c.tsv", "yes\tgood\n", labelled_, numbers),
            "c.tsv:1: expected a column 3, found 2 columns");
  // A header may hold numbers, too.
  EXPECT_EQ(
      values("d.csv", "3,1,x\na,b,c\n", labelled_, {.fields = {"1", "3"}, .has_header = true}),
      (Values{{"b", "a"}}));
}

TEST_F(RecordsTest, OnesWordIsTakenForAHeaderOrNone) {
  EXPECT_EQ(values("a.tsv", "label\ttext\nb\tc\n", labelled_, {.has_header = false}),
            (Values{{"label", "text"}, {"b", "c"}}));
  EXPECT_EQ(values("b.tsv", "x\ty\nb\tc\n", labelled_, {.fields = {"y", "x"}, .has_header = true}),
            (Values{{"c", "b"}}));
  EXPECT_EQ(error("c.tsv", "x\ty\nb\tc\n", labelled_, {.has_header = true}),
            "c.tsv:1: expected a column 'label', found x, y; say which with `fields` LABEL,TEXT");
  expect_error(ErrorKind::usage,
               "`fields`: without a header, expected numbers of columns, like 1,2, found y", [&] {
                 values("d.tsv", "x\ty\n", labelled_, {.fields = {"y", "x"}, .has_header = false});
               });
}

TEST_F(RecordsTest, SayWhichColumnsTheyAreFrom) {
  const auto columns = [&](const std::string& name, const std::string& content) {
    return read_records(folder_.write(name, content), labelled_).columns;
  };
  EXPECT_EQ(columns("a.tsv", "good\tyes\n"),
            "column 1 is the label, column 2 the text (no header)");
  EXPECT_EQ(columns("b.csv", "Text,Category\nyes,good\n"),
            "'Category' is the label, 'Text' the text (header)");
  EXPECT_EQ(columns("c.jsonl", "{\"class\": \"good\", \"text\": \"yes\"}\n"),
            "'class' is the label, 'text' the text");
}

TEST_F(RecordsTest, ASecondTextIsFoundByItsNameOrByAThirdField) {
  const Roles roles = labelled_roles(ProblemType::single_label, TextPairs::if_named);
  const Values both{{"yes", "a b", "c d"}};
  EXPECT_EQ(values("a.tsv", "sentence1\tsentence2\tlabel\na b\tc d\tyes\n", roles), both);
  EXPECT_EQ(values("b.csv", "label,Premise,Hypothesis\nyes,a b,c d\n", roles), both);
  EXPECT_EQ(values("c.tsv", "id\tquestion1\tquestion2\tlabel\n1\ta b\tc d\tyes\n", roles), both);
  EXPECT_EQ(
      values("d.jsonl", "{\"text\":\"a b\",\"text_pair\":\"c d\",\"label\":\"yes\"}\n", roles),
      both);
  EXPECT_EQ(values("e.tsv", "yes\ta b\tc d\n", roles, {.fields = {"1", "2", "3"}}), both);
  EXPECT_EQ(values("f.csv", "l,x,y\nyes,a b,c d\n", roles, {.fields = {"l", "x", "y"}}), both);
  // Not asked for, or not there.
  const Values one{{"yes", "a b"}};
  EXPECT_EQ(values("g.tsv", "yes\ta b\tc d\n", roles), one);
  EXPECT_EQ(
      values("h.tsv", "label\ttext\ttext2\nyes\ta b\tc d\n", roles, {.fields = {"label", "text"}}),
      one);
  EXPECT_EQ(values("i.tsv", "label\ttext\nyes\ta b\n", roles), one);
}

TEST_F(RecordsTest, ASecondTextThatMustBeThereIsMissed) {
  const Roles roles = labelled_roles(ProblemType::single_label, TextPairs::always);
  EXPECT_EQ(values("a.tsv", "yes\ta b\tc d\n", roles), (Values{{"yes", "a b", "c d"}}));
  EXPECT_EQ(error("b.tsv", "label\ttext\nyes\ta b\n", roles),
            "b.tsv:1: expected a column 'text_pair', found label, text; say which with `fields` "
            "LABEL,TEXT,TEXT_PAIR, or `no_header` if that is data");
}

TEST_F(RecordsTest, JsonHasNumbersAndListsWhereTheProblemHasThem) {
  const Roles numbers = labelled_roles(ProblemType::regression, TextPairs::never);
  EXPECT_EQ(values("a.jsonl", "{\"text\": \"a\", \"score\": -2.5}\n", numbers),
            (Values{{"-2.5", "a"}}));
  const Roles lists = labelled_roles(ProblemType::multi_label, TextPairs::never);
  EXPECT_EQ(
      values("b.jsonl",
             "{\"text\": \"a\", \"labels\": [\"x\", \"y z\"]}\n{\"text\": \"b\", \"labels\": []}\n",
             lists),
      (Values{{"x|y z", "a"}, {"", "b"}}));
  EXPECT_EQ(error("c.jsonl", "{\"text\": \"a\", \"labels\": [\"x|y\"]}\n", lists),
            "c.jsonl:1: labels: expected strings that are not blank and without |, found \"x|y\"");
  EXPECT_EQ(error("d.jsonl", "{\"text\": \"a\", \"label\": [\"x\"]}\n", labelled_),
            "d.jsonl:1: label: expected a string, found [\"x\"]");
}

TEST(FieldNames, MayBeOneMoreWhereThatIsAllowed) {
  EXPECT_EQ(parse_field_names("a,b,c", {2, 3}, "`fields`"), (Names{"a", "b", "c"}));
  expect_error(ErrorKind::usage,
               "`fields`: expected 2 or 3 names with a comma between them, found 'a'", [] {
                 parse_field_names("a", {2, 3}, "`fields`");
               });
}

TEST(FieldNames, AreSplitAtCommas) {
  EXPECT_EQ(parse_field_names("", 2, "`fields`"), Names{});
  EXPECT_EQ(parse_field_names("en,de", 2, "`fields`"), (Names{"en", "de"}));
}

TEST(FieldNames, RefuseAnotherNumberEmptyOnesAndTwins) {
  for (const std::string names : {"en", "en,", ",de", "en,de,fr", "en,en"}) {
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
