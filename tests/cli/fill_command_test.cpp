#include "heed/cli/fill_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "infer/toy_encoders.h"
#include "models/small_models.h"
#include "support/expect_error.h"

namespace heed::cli {
namespace {

struct SavedMaskedModel {
  TemporaryFolder folder;
  SavedMaskedModel() {
    const models::MaskedModelFolder& model = infer::toy_masked_model();
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  std::string run(const std::string& input, FillOptions options = {}) const {
    options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out, log;
    EXPECT_EQ(fill(options, in, out, log), 0);
    EXPECT_EQ(log.str(), "");
    return out.str();
  }
};

TEST(FillCommand, PrintsTheWordsOfEachGapOnOneLine) {
  const SavedMaskedModel model;
  const std::string out = model.run("the <mask> in\n<mask> <mask>\n", {.top = 2});
  std::istringstream lines(out);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(std::ranges::count(first, '\t'), 3) << first;
  EXPECT_EQ(first.find(" ||| "), std::string::npos) << first;
  EXPECT_NE(second.find(" ||| "), std::string::npos) << second;
  EXPECT_EQ(std::ranges::count(second, '\t'), 6) << second;
}

TEST(FillCommand, TakesGapsAsTheyAreWritten) {
  const SavedMaskedModel model;
  EXPECT_EQ(model.run("the ___ in\n", {.mask = "___"}), model.run("the <mask> in\n"));
}

TEST(FillCommand, AWordWithAControlCharacterIsEscaped) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines{"ab\x1b c"};
  const auto tokenizer =
      text::Tokenizer::train(lines, {.subwords = text::Subwords::character, .with_mask = true});
  models::TransformerConfig config = models::small_config(models::ModelKind::masked);
  config.vocabulary = tokenizer.size();
  models::save_model_folder(folder.path(), models::MaskedModel(config, 1), tokenizer);
  std::istringstream in("a<mask>\n");
  std::ostringstream out, log;
  EXPECT_EQ(fill({.model = folder.path(), .top = 100}, in, out, log), 0);
  EXPECT_NE(out.str().find("\\x1b\t0."), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find('\x1b'), std::string::npos);
}

TEST(FillCommand, PrintsJson) {
  const SavedMaskedModel model;
  const auto json = nlohmann::json::parse(model.run("the <mask> in\n", {.top = 3, .json = true}));
  ASSERT_EQ(json["gaps"].size(), 1u);
  ASSERT_EQ(json["gaps"][0].size(), 3u);
  EXPECT_TRUE(json["gaps"][0][0]["word"].is_string());
  EXPECT_GE(json["gaps"][0][0]["probability"], json["gaps"][0][1]["probability"]);
}

TEST(FillCommand, ALineWithoutAMaskGivesAnEmptyLineAWarningAndExitCode3) {
  const SavedMaskedModel model;
  const std::string red = model.run("the <mask> in\n"), blue = model.run("<mask> blue\n");
  std::istringstream in("the red\nthe <mask> in\n\nthe\n<mask> blue\nthe <mask> in\n");
  std::ostringstream out, log;
  EXPECT_EQ(fill({.model = model.folder.path()}, in, out, log), 3);
  EXPECT_EQ(out.str(), "\n" + red + "\n\n" + blue + red);
  EXPECT_EQ(log.str(),
            "warning: line 1: expected the mask token <mask>, found none\n"
            "warning: line 3: expected the mask token <mask>, found none\n"
            "warning: line 4: expected the mask token <mask>, found none\n");
}

TEST(FillCommand, ALineWithoutAMaskGivesAnObjectWithAnEmptyList) {
  const SavedMaskedModel model;
  std::istringstream in("the red\n");
  std::ostringstream out, log;
  EXPECT_EQ(fill({.model = model.folder.path(), .json = true}, in, out, log), 3);
  EXPECT_EQ(out.str(), "{\"gaps\":[]}\n");
}

TEST(FillCommand, RefusesAnEmptyMaskAndAModelOfAnotherKind) {
  const SavedMaskedModel model;
  std::istringstream in("the red\n");
  std::ostringstream out, log;
  expect_error(ErrorKind::usage, "`mask_token`: expected some text, found none",
               [&] { fill({.model = model.folder.path(), .mask = ""}, in, out, log); });
  const TemporaryFolder other;
  models::save_model_folder(other.path(), infer::toy_classifier().model,
                            infer::toy_classifier().tokenizer);
  expect_error(ErrorKind::model,
               other.path() + ": expected a model of type heed-masked, found heed-classifier",
               [&] { fill({.model = other.path()}, in, out, log); });
}

TEST(FillCommand, UnderstandsItsOptions) {
  for (const char* name : {"--mask-token", "--gap"}) {
    EXPECT_NO_THROW(fill_command().app()->parse("--model m --top 3 --json --threads 1 " +
                                                std::string(name) + " ___"));
  }
  EXPECT_THROW(fill_command().app()->parse("--top 3"), CLI::ParseError);
}

}  // namespace
}  // namespace heed::cli
