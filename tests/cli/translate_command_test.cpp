#include "heed/cli/translate_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "generate/memorised_translator.h"
#include "heed/cli/line_chunks.h"
#include "io/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

using io::expect_error;

struct SavedModel {
  TemporaryFolder folder;
  SavedModel() {
    const models::ModelFolder& model = generate::word_by_word_model();
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  std::string run(const std::string& input, TranslateOptions options = {}) const {
    options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(translate(options, in, out), 0);
    return out.str();
  }
};

TEST(TranslateCommand, GivesOneLineForEachLine) {
  const SavedModel model;
  EXPECT_EQ(model.run("two three\n\n  \none\n"), "zwei drei\n\n\neins\n");
  EXPECT_EQ(model.run("two three"), "zwei drei\n");  // without a newline at the end
  EXPECT_EQ(model.run("\xef\xbb\xbf"
                      "four\r\nthree\r\n"),
            "vier\ndrei\n");
  EXPECT_EQ(model.run(""), "");
}

TEST(TranslateCommand, AddsScoresAndAlignmentBehindBars) {
  const SavedModel model;
  const std::string line = model.run("two three\n\n", {.alignment = true, .scores = true});
  EXPECT_TRUE(line.starts_with("zwei drei ||| -0.0")) << line;
  EXPECT_TRUE(line.ends_with(" ||| 0-0 1-1\n\n")) << line;
}

TEST(TranslateCommand, PrintsTheNBestInTheFormatOfMoses) {
  const SavedModel model;
  std::istringstream lines(model.run("two three\n\none\n", {.n_best = 2}));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  ASSERT_EQ(found.size(), 5u);  // a blank line has one
  EXPECT_TRUE(found[0].starts_with("0 ||| zwei drei ||| logprob= -0.")) << found[0];
  EXPECT_TRUE(found[1].starts_with("0 ||| ")) << found[1];
  EXPECT_EQ(found[2], "1 |||  ||| logprob= 0.0000 ||| 0.0000");
  EXPECT_TRUE(found[3].starts_with("2 ||| eins ||| ")) << found[3];
}

TEST(TranslateCommand, NamesTheLineThatIsNotUtf8AfterTranslatingThoseBefore) {
  const SavedModel model;
  std::istringstream in("two\none\nt\xffo\nfour\n");
  std::ostringstream out;
  expect_error(ErrorKind::data, "standard input:3: not valid UTF-8 at byte 2 (found 0xff)",
               [&] { translate({.model = model.folder.path()}, in, out); });
  EXPECT_EQ(out.str(), "zwei\neins\n");
}

TEST(TranslateCommand, RefusesAModelWithoutATokenizerAndAFolderThatIsNoModel) {
  const SavedModel model;
  std::istringstream in("two\n");
  std::ostringstream out;
  std::filesystem::remove(model.folder.file("tokenizer.model"));
  expect_error(ErrorKind::model,
               model.folder.path() + ": expected a model folder with tokenizer.model, found none",
               [&] { translate({.model = model.folder.path()}, in, out); });
  expect_error(ErrorKind::model,
               model.folder.file("no") + ": expected a model folder, found nothing",
               [&] { translate({.model = model.folder.file("no")}, in, out); });
}

TEST(TranslateCommand, UnderstandsItsOptions) {
  Command command = translate_command();
  EXPECT_NO_THROW(command.app()->parse(
      "--model m --beam 4 --length-penalty 0.6 --max-length 9 --n-best 2 --alignment --scores "
      "--threads 1 --batch-tokens 100"));
  EXPECT_NO_THROW(translate_command().app()->parse("--model m --beam-size 4"));
  EXPECT_THROW(translate_command().app()->parse("--beam 4"), CLI::ParseError);
  EXPECT_THROW(translate_command().app()->parse("--model m --beam 0"), CLI::ParseError);
}

TEST(LineChunks, GiveOutTheLinesThatHaveArrived) {
  std::istringstream in("a\nb\nc\n");
  LineChunks chunks(in, "here");
  EXPECT_EQ(chunks.next(2), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(chunks.num_lines(), 2);
  EXPECT_EQ(chunks.next(2), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(chunks.next(2).empty());
}

}  // namespace
}  // namespace heed::cli
