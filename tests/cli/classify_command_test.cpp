#include "heed/cli/classify_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "infer/toy_encoders.h"
#include "support/expect_error.h"
#include "train/toy_classes.h"
#include "train/toy_images.h"

namespace heed::cli {
namespace {

struct SavedClassifier {
  TemporaryFolder folder;
  explicit SavedClassifier(const models::ClassifierFolder& model = infer::toy_classifier()) {
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  std::string run(const std::string& input, ClassifyOptions options = {}) const {
    options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(classify(options, in, out), 0);
    return out.str();
  }
};

TEST(ClassifyCommand, GivesALabelAndItsProbabilityForEachLine) {
  const SavedClassifier model;
  const std::string out = model.run("the red\na blue in\n");
  std::istringstream lines(out);
  std::string label, probability;
  std::getline(lines, label, '\t');
  EXPECT_EQ(label, "warm");
  std::getline(lines, probability);
  EXPECT_GT(std::stod(probability), 0.5);
  EXPECT_LE(std::stod(probability), 1);
  EXPECT_NE(out.find("\ncold\t0."), std::string::npos) << out;
}

TEST(ClassifyCommand, PrintsTheNextClassesBehindTheFirst) {
  const SavedClassifier model;
  const std::string out = model.run("the red\n", {.top = 2});
  EXPECT_EQ(std::ranges::count(out, '\t'), 3) << out;
  EXPECT_EQ(std::ranges::count(out, '\n'), 1) << out;
}

TEST(ClassifyCommand, PrintsJson) {
  const SavedClassifier model;
  const auto json = nlohmann::json::parse(model.run("the red\n", {.top = 3, .json = true}));
  ASSERT_EQ(json["classes"].size(), 3u);
  EXPECT_EQ(json["classes"][0]["label"], "warm");
  EXPECT_GT(json["classes"][0]["probability"], json["classes"][1]["probability"]);
}

TEST(ClassifyCommand, ReadsTwoTextsOfEachLine) {
  const SavedClassifier model(infer::toy_pairs());
  const std::string out = model.run("the red\ta red\na blue\tthe blue\n");
  EXPECT_TRUE(out.starts_with("both\t")) << out;
  EXPECT_NE(out.find("\nnone\t"), std::string::npos) << out;
  EXPECT_EQ(model.run("[\"the red\", \"a red\"]\n[\"a blue\", \"the blue\"]\n",
                      {.input_format = LineFormat::json}),
            out);
}

TEST(ClassifyCommand, PrintsEveryLabelThatIsLikelyEnough) {
  const SavedClassifier model(infer::toy_label_sets());
  const auto num_labels = [](const std::string& line) {
    return (std::ranges::count(line, '\t') + 1) / 2;
  };
  EXPECT_EQ(num_labels(model.run("the red blue in\n")), 2);
  EXPECT_TRUE(model.run("the red in\n").starts_with("warm\t"));
  EXPECT_EQ(num_labels(model.run("the red in\n")), 1);
  EXPECT_EQ(model.run("a in\n"), "\n");
  EXPECT_EQ(model.run("a in\n", {.json = true}), "{\"classes\":[]}\n");
  EXPECT_EQ(num_labels(model.run("a in\n", {.threshold = 0})), 2);
  EXPECT_EQ(num_labels(model.run("a in\n", {.top = 2})), 2);
}

TEST(ClassifyCommand, PrintsTheNumberOfARegression) {
  const SavedClassifier model(infer::toy_numbers());
  EXPECT_NEAR(std::stod(model.run("red red red red\n")), 1400, 50);
  const auto json = nlohmann::json::parse(model.run("red red red red\n", {.json = true}));
  EXPECT_NEAR(json["score"].get<double>(), 1400, 50);
}

TEST(ClassifyCommand, RefusesOptionsOfAnotherProblem) {
  const auto expect_usage = [](const SavedClassifier& model, ClassifyOptions options,
                               const std::string& message) {
    options.model = model.folder.path();
    std::istringstream in("red\n");
    std::ostringstream out;
    expect_error(ErrorKind::usage, message, [&] { classify(options, in, out); });
  };
  const SavedClassifier classes, numbers(infer::toy_numbers()), sets(infer::toy_label_sets());
  expect_usage(classes, {.threshold = 0.5},
               classes.folder.path() +
                   ": --threshold is for models that give a text several labels, and this one does "
                   "not");
  expect_usage(
      numbers, {.top = 2},
      numbers.folder.path() + ": --top is for models of labels, and this one predicts a number");
  expect_usage(sets, {.top = 2, .threshold = 0.5},
               "--threshold and --top: expected one of them, found both");
}

TEST(ClassifyCommand, RefusesABlankLineAndAModelOfAnotherKind) {
  const SavedClassifier model;
  std::istringstream in("the red\n\n");
  std::ostringstream out;
  expect_error(ErrorKind::data, "line 2: expected text, found a blank line",
               [&] { classify({.model = model.folder.path()}, in, out); });
  const TemporaryFolder other;
  models::save_model_folder(other.path(), infer::toy_masked_model().model,
                            infer::toy_masked_model().tokenizer);
  expect_error(ErrorKind::model,
               other.path() + ": expected a model of type heed-classifier, found heed-masked",
               [&] { classify({.model = other.path()}, in, out); });
}

TEST(ClassifyCommand, TakesPathsForAClassifierOfImages) {
  const train::ToyImages toy;
  train::hash_after(toy.training("model"));
  Rng rng(5);
  const TemporaryFolder folder;
  const std::string right = folder.write("a", png_bytes(train::ToyImages::image(true, rng)));
  const std::string left = folder.write("b", png_bytes(train::ToyImages::image(false, rng)));
  std::istringstream in(right + '\n' + left + '\n');
  std::ostringstream out;
  EXPECT_EQ(classify({.model = toy.file("model")}, in, out), 0);
  EXPECT_TRUE(out.str().starts_with("right\t")) << out.str();
  EXPECT_NE(out.str().find("\nleft\t"), std::string::npos) << out.str();

  std::istringstream text(folder.write("c", "no image") + '\n');
  expect_error(ErrorKind::data,
               folder.file("c") +
                   ": expected a PNG or JPEG image, found a file that starts with 6e 6f 20 69",
               [&] { classify({.model = toy.file("model")}, text, out); });
}

struct SavedTagger {
  TemporaryFolder folder;
  SavedTagger() {
    const models::TaggerFolder& model = infer::toy_tagger();
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  std::string run(const std::string& input, ClassifyOptions options = {}) const {
    options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(classify(options, in, out), 0);
    return out.str();
  }
};

TEST(ClassifyCommand, GivesTheTagsOfEveryWordForATagger) {
  const SavedTagger model;
  EXPECT_EQ(model.run("red in the green hill\n\n  blue\tof \n"),
            "B-COLOUR O B-PLACE I-PLACE I-PLACE\n\nB-COLOUR O\n");
}

TEST(ClassifyCommand, PrintsTheWordsOfATaggerAsJson) {
  const SavedTagger model;
  std::istringstream lines(model.run("red of\n\n", {.json = true}));
  std::string first, blank;
  std::getline(lines, first);
  std::getline(lines, blank);
  const auto words = nlohmann::json::parse(first);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0]["word"], "red");
  EXPECT_EQ(words[0]["tag"], "B-COLOUR");
  EXPECT_GT(words[0]["probability"], 0.5);
  EXPECT_EQ(words[1]["tag"], "O");
  EXPECT_EQ(blank, "[]");
}

TEST(ClassifyCommand, ATaggerGivesOneTagForAWord) {
  expect_error(ErrorKind::usage, "`top`: expected 1 for a tagger, found 3",
               [] { SavedTagger().run("red\n", {.top = 3}); });
  EXPECT_THROW(SavedTagger().run("red\n", {.threshold = 0.5}), Error);
}

TEST(ClassifyCommand, UnderstandsItsOptions) {
  EXPECT_NO_THROW(
      classify_command().app()->parse("--model m --top 3 --json --threads 1 --batch-tokens 9"));
  EXPECT_THROW(classify_command().app()->parse("--top 3"), CLI::ParseError);
  EXPECT_THROW(classify_command().app()->parse("--model m --top 0"), CLI::ParseError);
  EXPECT_NO_THROW(classify_command().app()->parse("--model m --threshold 0.3"));
  EXPECT_THROW(classify_command().app()->parse("--model m --threshold 1.5"), CLI::ParseError);
}

}  // namespace
}  // namespace heed::cli
