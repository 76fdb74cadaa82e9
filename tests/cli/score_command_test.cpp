#include "heed/cli/score_command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/untrained_models.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

using nlohmann::json;

template <typename Model>
struct Saved {
  TemporaryFolder folder;
  explicit Saved(const Model& model) {
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  std::string run(const std::string& input, ScoreOptions options = {}) const {
    options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(score(options, in, out), 0);
    return out.str();
  }
};

Saved<models::LanguageModelFolder> saved_generator() {
  return Saved<models::LanguageModelFolder>(infer::rhyme_model());
}
Saved<models::TranslationModelFolder> saved_translator() {
  return Saved<models::TranslationModelFolder>(infer::word_by_word_model());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ScoreCommand, GivesOneNumberForEachLine) {
  const auto model = saved_generator();
  const auto lines = lines_of(model.run("the cat sat on a mat\n\nxyz\n"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_GT(std::stod(lines[0]), -5);
  EXPECT_LT(std::stod(lines[1]), std::stod(lines[0]));
  EXPECT_LT(std::stod(lines[2]), std::stod(lines[1]));
}

TEST(ScoreCommand, ReadsPairsWithATabBetweenOrFromTwoFiles) {
  const auto model = saved_translator();
  const std::string both = model.run("two three\tzwei drei\none\tvier\n");
  const auto lines = lines_of(both);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_GT(std::stod(lines[0]), -1);
  EXPECT_LT(std::stod(lines[1]), -2);
  std::ofstream(model.folder.file("s")) << "two three\none\n";
  std::ofstream(model.folder.file("t")) << "zwei drei\nvier\n";
  EXPECT_EQ(model.run("", {.source = model.folder.file("s"), .target = model.folder.file("t")}),
            both);
}

TEST(ScoreCommand, AddsTokensBehindBarsAndInJson) {
  const auto model = saved_translator();
  const std::string input = "two\tzwei\n";
  const std::string line = model.run(input, {.tokens = true});
  EXPECT_NE(line.find(" ||| \u2581zwei -"), std::string::npos) << line;
  EXPECT_NE(line.find(" </s> -"), std::string::npos) << line;

  const json found = json::parse(model.run(input, {.tokens = true, .json = true}));
  ASSERT_EQ(found["tokens"].size(), 2u);
  EXPECT_EQ(found["num_tokens"], 2);
  EXPECT_EQ(found["truncated"], false);
  EXPECT_EQ(found["tokens"][1]["id"], text::own_tokens::end);
  EXPECT_DOUBLE_EQ(found["log_probability"].get<double>(),
                   found["tokens"][0]["log_probability"].get<double>() +
                       found["tokens"][1]["log_probability"].get<double>());
  EXPECT_FALSE(json::parse(model.run(input, {.json = true})).contains("tokens"));
}

TEST(ScoreCommand, KeepsATokenThatEndsALineOnTheLine) {
  const auto model = saved_generator();
  const std::string line = model.run("a\n", {.tokens = true});
  EXPECT_EQ(lines_of(line).size(), 1u);
  EXPECT_NE(line.find("\\n -"), std::string::npos) << line;
}

TEST(ScoreCommand, APieceIsAFieldWithoutSpacesOrControlCharacters) {
  const UntrainedModels models;  // the translation model has bytes for pieces
  std::istringstream in("\"one\\ttwo\"\n\"a b\\n\\tc\"\n");
  std::ostringstream out;
  EXPECT_EQ(score({.model = models.translation(), .input_format = LineFormat::json, .tokens = true},
                  in, out),
            0);
  EXPECT_EQ(lines_of(out.str()).size(), 2u) << out.str();
}

TEST(ScoreCommand, RefusesWhatDoesNotFitTheKindOfModel) {
  const auto writer = saved_generator();
  const auto translator = saved_translator();
  expect_error(ErrorKind::usage,
               "score: expected lines on standard input for a language model, found --source or "
               "--target",
               [&] { writer.run("", {.source = "s"}); });
  expect_error(ErrorKind::usage, "score: expected --source and --target or none of them, found one",
               [&] { translator.run("", {.source = "s"}); });
  expect_error(ErrorKind::data,
               "standard input:2: expected a source, one tab and a target, found 0 tabs",
               [&] { translator.run("one\teins\ntwo\n"); });
  expect_error(ErrorKind::data,
               "line 2: expected a line end and a text of at most 24 tokens, found 25 (`truncate` "
               "cuts the end)",
               [&] { writer.run("the\nthe bat sat on a mat the\n"); });
  EXPECT_EQ(lines_of(writer.run("the\nthe bat sat on a mat the\n", {.truncate = true})).size(), 2u);
}

TEST(ScoreCommand, UnderstandsItsOptions) {
  EXPECT_NO_THROW(score_command().app()->parse(
      "--model m --source s --target t --tokens --json --truncate --batch-tokens 9 --threads 1"));
  EXPECT_THROW(score_command().app()->parse("--tokens"), CLI::ParseError);
}

}  // namespace
}  // namespace heed::cli
