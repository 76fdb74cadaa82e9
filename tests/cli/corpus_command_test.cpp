#include "heed/cli/corpus_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "heed/data/grammar_corpus.h"
#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream in(io::read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

CorpusCommandOptions small_corpus(const std::string& output) {
  CorpusCommandOptions options;
  options.pairs = 200;
  options.valid_pairs = 20;
  options.test_pairs = 50;
  options.seed = 3;
  options.output = output;
  return options;
}

TEST(CorpusCommand, WritesThePairsLineByLine) {
  const TemporaryFolder folder;
  std::ostringstream log;
  EXPECT_EQ(corpus(small_corpus(folder.file("a/b")), log), 0);
  EXPECT_EQ(log.str(), folder.file("a/b") + ": 200 training, 20 validation and 50 test pairs\n");

  const data::GrammarCorpus expected =
      data::generate_corpus({.num_pairs = 200, .seed = 3, .num_valid = 20, .num_test = 50});
  const auto expect_files = [&](const std::string& name,
                                const std::vector<data::SentencePair>& pairs) {
    const auto english = lines_of(folder.file("a/b/" + name + ".en"));
    const auto german = lines_of(folder.file("a/b/" + name + ".de"));
    ASSERT_EQ(english.size(), pairs.size());
    ASSERT_EQ(german.size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(english[i], pairs[i].source);
      EXPECT_EQ(german[i], pairs[i].target);
    }
  };
  expect_files("train", expected.train);
  expect_files("valid", expected.valid);
  expect_files("test", expected.test);
}

TEST(CorpusCommand, AFailureLeavesNothing) {
  const TemporaryFolder folder;
  const FullDisk disk(1000);
  std::ostringstream log;
  EXPECT_THROW(corpus(small_corpus(folder.file("a/b")), log), Error);
  EXPECT_EQ(folder.num_files(), 0u);
}

TEST(CorpusCommand, LabelsEachTestLine) {
  const TemporaryFolder folder;
  std::ostringstream log;
  corpus(small_corpus(folder.path()), log);
  const auto german = lines_of(folder.file("test.de"));
  const auto labels = lines_of(folder.file("test.tsv"));
  ASSERT_EQ(labels.size(), german.size());
  int num_labelled = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    SCOPED_TRACE(labels[i]);
    EXPECT_EQ(std::count(labels[i].begin(), labels[i].end(), '\t'), 4);
    std::istringstream columns(labels[i]);
    std::string phenomenon, expected;
    std::getline(columns, phenomenon, '\t');
    std::getline(columns, expected, '\t');
    EXPECT_TRUE(phenomenon == "none" || phenomenon == "pronoun" || phenomenon == "sense");
    num_labelled += phenomenon != "none";
    if (phenomenon == "sense") {
      EXPECT_NE(german[i].find(expected), std::string::npos);
    }
  }
  EXPECT_EQ(num_labelled, 40);
}

TEST(CorpusCommand, WritesNothingWhenTooManyPairsAreAskedFor) {
  const TemporaryFolder folder;
  CorpusCommandOptions options = small_corpus(folder.file("new"));
  options.pairs = 1'000'000'000;
  std::ostringstream log;
  EXPECT_THROW(corpus(options, log), Error);
  EXPECT_EQ(folder.num_files(), 0u);
  EXPECT_EQ(log.str(), "");
}

TEST(CorpusCommand, LeavesOldFilesAloneWhenOneCannotBeWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("train.en")) << "old\n";
  io::create_folder(folder.file("valid.en"));  // a folder in the place of a file
  std::ostringstream log;
  EXPECT_THROW(corpus(small_corpus(folder.path()), log), Error);
  EXPECT_EQ(io::read_file(folder.file("train.en")), "old\n");
  EXPECT_EQ(folder.num_files(), 2u);
}

TEST(CorpusCommand, IsACommandOfTheProgram) {
  const TemporaryFolder folder;
  const std::string output = folder.file("out");
  const char* arguments[] = {"heed",          "corpus", "--pairs",      "30",
                             "--valid-pairs", "0",      "--test-pairs", "10",
                             "--seed",        "5",      "--output",     output.c_str()};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program(12, arguments, {corpus_command()}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            output + ": 30 training, 0 validation and 10 test pairs\n");
  EXPECT_EQ(lines_of(output + "/train.en").size(), 30u);
  EXPECT_TRUE(lines_of(output + "/valid.en").empty());

  const char* help[] = {"heed", "corpus", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_program(3, help, {corpus_command()}), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find(
                "Example: heed corpus --pairs 20000 --seed 1 --output corpus"),
            std::string::npos);

  const char* negative[] = {"heed", "corpus", "--pairs", "-3", "--output", output.c_str()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program(6, negative, {corpus_command()}), 2);
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace heed::cli
