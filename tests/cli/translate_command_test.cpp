#include "heed/cli/translate_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/untrained_models.h"
#include "infer/memorised_translator.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

struct SavedModel {
  TemporaryFolder folder;
  SavedModel() {
    const models::TranslationModelFolder& model = infer::word_by_word_model();
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

TEST(TranslateCommand, TellsTokensAndLogProbabilitiesInJson) {
  const SavedModel model;
  std::istringstream lines(
      model.run("two three\n\n", {.n_best = 2, .alignment = true, .json = true}));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const nlohmann::json found = nlohmann::json::parse(line);
  EXPECT_EQ(found["line"], 1);
  ASSERT_EQ(found["translations"].size(), 2u);
  const nlohmann::json& best = found["translations"][0];
  EXPECT_EQ(best["text"], "zwei drei");
  EXPECT_EQ(best["alignment"], "0-0 1-1");
  ASSERT_EQ(best["tokens"].size(), 3u);
  double sum = 0;
  for (const nlohmann::json& token : best["tokens"]) sum += token["log_probability"].get<double>();
  EXPECT_DOUBLE_EQ(best["log_probability"].get<double>(), sum);
  EXPECT_DOUBLE_EQ(best["score"].get<double>(), sum / 3);
  EXPECT_EQ(best["tokens"][2]["id"], text::Tokenizer::end);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["translations"][0]["text"], "");
}

TEST(TranslateCommand, TakesPrefixesForbiddenAndRequiredWords) {
  const SavedModel model;
  EXPECT_TRUE(model.run("two\nfour\n", {.prefix = "eins"}).starts_with("eins"));
  std::ofstream(model.folder.file("prefixes")) << "eins\n\n";
  const std::string each = model.run("two\nfour\n", {.prefixes = model.folder.file("prefixes")});
  EXPECT_TRUE(each.starts_with("eins")) << each;
  EXPECT_TRUE(each.ends_with("\nvier\n")) << each;
  const std::string without = model.run("two three\n", {.forbid = {"zwei", "drei"}});
  EXPECT_EQ(without.find("zwei"), std::string::npos) << without;
  EXPECT_EQ(without.find("drei"), std::string::npos) << without;
  EXPECT_NE(model.run("two\n", {.require = {"vier"}}).find("vier"), std::string::npos);
  expect_error(
      ErrorKind::data,
      model.folder.file("prefixes") + ": expected a line for each line of standard input, found 2",
      [&] { model.run("two\none\ntwo\n", {.prefixes = model.folder.file("prefixes")}); });
  expect_error(ErrorKind::usage, "translate: expected --prefix or --prefixes, found both",
               [&] { model.run("two\n", {.prefix = "a", .prefixes = "b"}); });
}

// A model of bytes that answers with its prefix.
struct Echo {
  const UntrainedModels models;
  const std::string text = "a\nb\r\tc \\n \x1b[0m";

  std::string run(const std::string& input, TranslateOptions options = {}) const {
    options.model = models.translation();
    options.max_length = 1;
    options.prefix = text;
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(translate(options, in, out), 0);
    return out.str();
  }
};

TEST(TranslateCommand, ATranslationWithLineEndsIsOneLine) {
  const Echo model;
  const std::string line = "a\\nb\\r\\tc \\n \\x1b[0m";
  EXPECT_EQ(model.run("one\ntwo\n"), line + '\n' + line + '\n');
  EXPECT_EQ(model.run("one\n", {.beam_size = 1}), line + '\n');
  const std::string n_best = model.run("one\n", {.n_best = 1});
  EXPECT_TRUE(n_best.starts_with("0 ||| " + line + " ||| logprob= ")) << n_best;
  EXPECT_EQ(std::ranges::count(n_best, '\n'), 1) << n_best;
  const std::string json = model.run("one\n", {.json = true});
  EXPECT_EQ(nlohmann::json::parse(json)["translations"][0]["text"], model.text);
}

TEST(TranslateCommand, ALineOfJsonMayHoldLineEnds) {
  const UntrainedModels models;
  std::istringstream in("\"one\\ntwo\"\n\"one two\"\n");
  std::ostringstream out;
  const TranslateOptions options{.model = models.translation(),
                                 .input_format = LineFormat::json,
                                 .max_length = 5,
                                 .json = true};
  EXPECT_EQ(translate(options, in, out), 0);
  std::istringstream lines(out.str());
  const auto translator = infer::Translator::load(models.translation());
  for (const std::string source : {"one\ntwo", "one two"}) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    infer::BeamSearchOptions search = translator.default_search();
    search.max_length = 5;
    EXPECT_EQ(nlohmann::json::parse(line)["translations"][0]["text"],
              translator.translate(std::span(&source, 1), {.search = search})[0].text());
  }
}

TEST(TranslateCommand, DiverseGroupsAndCoverageReachTheSearch) {
  const SavedModel model;
  EXPECT_EQ(model.run("two three\n", {.beam_size = 4, .diverse_groups = 2}), "zwei drei\n");
  EXPECT_THROW(model.run("two\n", {.beam_size = 4, .diverse_groups = 3}), Error);
  const std::string without = model.run("two three\n", {.scores = true});
  EXPECT_NE(model.run("two three\n", {.coverage_penalty = 1, .scores = true}), without);
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
               model.folder.path() +
                   ": expected a model folder with one of tokenizer.model, source.spm, "
                   "tokenizer.json, spiece.model, merges.txt, vocab.txt, found none",
               [&] { translate({.model = model.folder.path()}, in, out); });
  expect_error(ErrorKind::model,
               model.folder.file("no") + ": expected a model folder, found nothing",
               [&] { translate({.model = model.folder.file("no")}, in, out); });
}

TEST(TranslateCommand, UnderstandsItsOptions) {
  Command command = translate_command();
  EXPECT_NO_THROW(command.app()->parse(
      "--model m --beam 4 --length-penalty 0.6 --max-length 9 --n-best 2 --alignment --scores "
      "--threads 1 --batch-tokens 100 --diverse-groups 2 --diversity-penalty 0.3 "
      "--coverage-penalty 0.2 --prefix Ein --truncate --json --forbid a --forbid b --require c"));
  EXPECT_NO_THROW(translate_command().app()->parse("--model m --beam-size 4"));
  EXPECT_THROW(translate_command().app()->parse("--beam 4"), CLI::ParseError);
  EXPECT_NO_THROW(translate_command().app()->parse("--model m --json-input"));
  for (const std::string wrong :
       {"--beam 0", "--beam 1001", "--n-best 0", "--length-penalty nan", "--length-penalty 1e9",
        "--max-length 0", "--max-length 99999999999999", "--batch-tokens 9999999999",
        "--diverse-groups 0", "--diversity-penalty -1", "--coverage-penalty inf"}) {
    EXPECT_THROW(translate_command().app()->parse("--model m " + wrong), CLI::ParseError) << wrong;
  }
}

}  // namespace
}  // namespace heed::cli
