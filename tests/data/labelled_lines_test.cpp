#include "heed/data/labelled_lines.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

void expect_two_moods(const std::string& path) {
  const auto lines = read_labelled_lines(path).lines;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].label, "good");
  EXPECT_EQ(lines[0].text, "what a day, really");
  EXPECT_EQ(lines[1].label, "bad");
  EXPECT_EQ(lines[1].text, "rain again");
}

TEST(LabelledLines, ComeFromEveryKindOfFile) {
  const TemporaryFolder folder;
  expect_two_moods(folder.write("moods.tsv", "good\twhat a day, really\nbad\train again\n"));
  expect_two_moods(
      folder.write("headed.csv", "text,label\n\"what a day, really\",good\nrain again,bad\n"));
  expect_two_moods(folder.write("plain.csv", "good,\"what a day, really\"\nbad,rain again\n"));
  expect_two_moods(folder.write("moods.jsonl",
                                "{\"label\":\"good\",\"text\":\"what a day, really\"}\n"
                                "{\"text\":\"rain again\",\"label\":\"bad\"}\n"));
}

TEST(LabelledLines, WithoutLabelOrTextAreRefusedByFileAndLine) {
  const TemporaryFolder folder;
  const std::string no_text = folder.write("text.tsv", "good\tfine\nbad\t  \n");
  expect_error(ErrorKind::data, no_text + ":2: expected text after the label bad, found none",
               [&] { read_labelled_lines(no_text); });
  const std::string no_label = folder.write("label.tsv", "good\tfine\ngood\tvery\n\train\n");
  expect_error(ErrorKind::data, no_label + ":3: expected a label, found an empty one",
               [&] { read_labelled_lines(no_label); });
}

TEST(LabelledLines, WithALabelOfMoreThanALineAreRefusedByFileAndLine) {
  const TemporaryFolder folder;
  const std::string expected = ": expected a label on one line, without control characters, found ";
  const std::string jsonl = folder.write(
      "a.jsonl", "{\"label\":\"a\",\"text\":\"x\"}\n{\"label\":\"a\\nb\",\"text\":\"x\"}\n");
  expect_error(ErrorKind::data, jsonl + ":2" + expected + "\"a\\nb\"",
               [&] { read_labelled_lines(jsonl); });
  const std::string csv = folder.write("a.csv", "label,text\n\"a\nb\",x\n");
  expect_error(ErrorKind::data, csv + ":2" + expected + "\"a\\nb\"",
               [&] { read_labelled_lines(csv); });
  const std::string tsv = folder.write("a.tsv", "\x1b[31mred\tx\n");
  expect_error(ErrorKind::data, tsv + ":1" + expected + "\"\\x1b[31mred\"",
               [&] { read_labelled_lines(tsv); });
  const std::string endless = folder.write("b.tsv", std::string(1001, 'l').append("\tx\n"));
  expect_error(ErrorKind::data,
               endless + ":1: expected a label of at most 1000 bytes, found one of 1001",
               [&] { read_labelled_lines(endless); });
}

TEST(LabelledLines, HaveTheirClassesInTheOrderOfTheAlphabet) {
  const std::vector<LabelledLine> lines{{"warm", "a", 1}, {"cold", "b", 2}, {"warm", "c", 3}};
  const std::vector<std::string> labels = distinct_labels(lines);
  EXPECT_EQ(labels, (std::vector<std::string>{"cold", "warm"}));
  EXPECT_EQ(classes_of(lines, labels, "f"), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(texts_of(lines), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(LabelledLines, MayBePairsOfTexts) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.tsv", "label\tpremise\thypothesis\nyes\ta\tb\nno\tc\td\n");
  const LabelledLines pairs =
      read_labelled_lines(path, {}, ProblemType::single_label, TextPairs::if_named);
  EXPECT_TRUE(pairs.has_pairs);
  EXPECT_EQ(texts_of(pairs.lines), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(second_texts_of(pairs.lines), (std::vector<std::string>{"b", "d"}));
  const std::string blank = folder.write("b.tsv", "label\tpremise\thypothesis\nyes\ta\t \n");
  expect_error(
      ErrorKind::data, blank + ":2: expected a second text for the label yes, found none",
      [&] { read_labelled_lines(blank, {}, ProblemType::single_label, TextPairs::always); });
}

TEST(LabelledLines, MayHaveSeveralLabelsOrNone) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tsv", "warm | wet\ta\n\tb\nwet|wet\tc\n");
  const auto lines = read_labelled_lines(path, {}, ProblemType::multi_label).lines;
  const auto labels = distinct_labels(lines, ProblemType::multi_label);
  EXPECT_EQ(labels, (std::vector<std::string>{"warm", "wet"}));
  EXPECT_EQ(targets_of(lines, labels, path, ProblemType::multi_label).label_sets,
            (std::vector<std::vector<int>>{{0, 1}, {}, {1}}));
  expect_error(
      ErrorKind::data, path + ":1: expected one of the 1 labels of the model, found warm",
      [&] { targets_of(lines, std::vector<std::string>{"wet"}, path, ProblemType::multi_label); });
  const std::string empty = folder.write("b.tsv", "warm||wet\ta\n");
  expect_error(ErrorKind::data, empty + ":1: expected a label, found an empty one",
               [&] { read_labelled_lines(empty, {}, ProblemType::multi_label); });
}

TEST(LabelledLines, MayHaveNumbersForLabels) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tsv", "-1.5\ta\n2e3\tb\n+7\tc\n");
  const auto lines = read_labelled_lines(path, {}, ProblemType::regression).lines;
  EXPECT_EQ(distinct_labels(lines, ProblemType::regression), std::vector<std::string>{"score"});
  EXPECT_EQ(targets_of(lines, {}, path, ProblemType::regression).numbers,
            (std::vector<double>{-1.5, 2000, 7}));
  for (const std::string label : {"good", "nan", "inf", "1e16", "1,5", "0x10"}) {
    const std::string bad = folder.write("b.tsv", "1\ta\n" + label + "\tb\n");
    expect_error(
        ErrorKind::data,
        bad + ":2: expected a number for the label of a regression, found \"" + label + '"',
        [&] { read_labelled_lines(bad, {}, ProblemType::regression); });
  }
}

TEST(LabelledLines, WithAnUnknownLabelAreRefusedByLabelFileAndLine) {
  const std::vector<LabelledLine> lines{{"warm", "a", 1}, {"mild", "b", 7}};
  const std::vector<std::string> labels{"cold", "warm"};
  expect_error(ErrorKind::data, "test.tsv:7: expected one of the 2 labels of the model, found mild",
               [&] { classes_of(lines, labels, "test.tsv"); });
}

}  // namespace
}  // namespace heed::data
