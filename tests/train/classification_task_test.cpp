#include "heed/train/classification_task.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/parallel.h"
#include "heed/data/labelled_lines.h"
#include "heed/infer/line_classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"
#include "heed/train/base_model.h"
#include "support/expect_error.h"
#include "train/toy_problems.h"

namespace heed::train {
namespace {

void expect_refused(ErrorKind kind, const Training& training, const std::string& message) {
  expect_error(kind, message, [&] { hash_after(training); });
  EXPECT_FALSE(std::filesystem::exists(training.model_folder));
}

TEST(ClassificationTask, LearnsTheClassesAndTellsHowWell) {
  const ToyClasses toy;
  Watcher watcher;
  const TrainingResult result = train_model(toy.classes("model"), watcher);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_EQ(watcher.start.data.examples, "lines");
  EXPECT_EQ(watcher.start.data.num_examples, 120);
  EXPECT_EQ(watcher.start.data.num_valid_examples, 24);
  ASSERT_FALSE(watcher.validations.empty());
  EXPECT_EQ(watcher.validations.back().score("accuracy"), 1.0);
  EXPECT_EQ(watcher.validations.back().score("macro_f1"), 1.0);
  EXPECT_LT(watcher.validations.back().loss, watcher.validations.front().loss);
  const auto loaded = models::load_model_folder<models::Classifier>(toy.file("model"));
  EXPECT_EQ(loaded.model.config().labels, (std::vector<std::string>{"calm", "cold", "warm"}));
  EXPECT_EQ(models::weights_hash(models::parameters(loaded.model)), result.weights_hash);
}

TEST(ClassificationTask, TellsHowItUnderstoodItsData) {
  const ToyClasses toy;
  Watcher watcher;
  train_model(toy.classes("model"), watcher);
  const DataSummary& data = watcher.start.data;
  EXPECT_EQ(data.columns,
            std::vector<std::string>{"column 1 is the label, column 2 the text (no header)"});
  ASSERT_EQ(data.samples.size(), 3u);
  const auto first = data::read_labelled_lines(toy.file("train.tsv")).lines.front();
  EXPECT_EQ(data.samples[0].input, first.text);
  EXPECT_EQ(data.samples[0].output, first.label);
  ASSERT_EQ(data.classes.size(), 3u);
  EXPECT_GE(data.classes[0].count, data.classes[1].count);
  EXPECT_GE(data.classes[1].count, data.classes[2].count);
  EXPECT_EQ(data.classes[0].count + data.classes[1].count + data.classes[2].count, 120);
  ASSERT_EQ(data.lengths.size(), 1u);
  EXPECT_EQ(data.lengths[0].max, 6);    // up to five words and the end token
  ASSERT_EQ(data.warnings.size(), 1u);  // so few words make lines that repeat
  EXPECT_NE(data.warnings[0].find(" training lines repeat"), std::string::npos);
}

TEST(ClassificationTask, RefusesLabelAndTextThatAreSwappedUnlessAskedFor) {
  const ToyClasses toy;
  std::ofstream file(toy.file("swapped.tsv"));
  for (int i = 0; i < 20; ++i) file << "it is " << i << (i % 2 ? "\tgood\n" : "\tbad\n");
  file.close();
  Training training = toy.classes("model");
  training.files = {{"labelled", toy.file("swapped.tsv")}};
  expect_refused(ErrorKind::data, training,
                 toy.file("swapped.tsv") +
                     ": expected labels that occur again, found nearly every one once, and few "
                     "texts: if the label is in column 2, `fields` 2,1, with `header` if the first "
                     "row is one; if all is right, `fields` 1,2");
  for (const std::string fields : {"1,2", "2,1"}) {
    Watcher watcher;
    training.model_folder = toy.file("model-" + fields);
    training.recipe.training.fields = fields;
    train_model(training, watcher);
    EXPECT_EQ(watcher.start.data.classes.size(), fields == "1,2" ? 20u : 2u);
  }
}

TEST(ClassificationTask, TruncatesLinesAndReadsNoMoreOfOthers) {
  const ToyClasses toy;
  Training training = toy.classes("model");
  training.recipe.model.truncate_source = 3;
  Watcher watcher;
  train_model(training, watcher);
  EXPECT_GT(watcher.start.data.num_truncated, 0);
  EXPECT_EQ(watcher.start.data.num_too_long, 0);
  const auto classifier = infer::LineClassifier::load(toy.file("model"));
  EXPECT_EQ(classifier.classify("the red").probability,
            classifier.classify("the red blue green blue").probability);
  EXPECT_NE(classifier.classify("the red").probability, classifier.classify("the").probability);
}

TEST(ClassificationTask, WritesAccuracyAndMacroF1ToTheLog) {
  const ToyClasses toy;
  hash_after(toy.classes("model"));
  nlohmann::json validation;
  for (const std::string& line : text::read_lines(toy.file("model/training/metrics.jsonl"))) {
    const auto entry = nlohmann::json::parse(line);
    if (entry["kind"] == "validation") validation = entry;
  }
  EXPECT_EQ(validation["accuracy"], 1.0);
  EXPECT_EQ(validation["macro_f1"], 1.0);
}

TEST(ClassificationTask, ResumesWithTheSameBits) {
  const ToyClasses toy;
  for (const models::Pooling pooling : {models::Pooling::first, models::Pooling::attention}) {
    Training whole = toy.classes("whole-" + std::string(name_of(pooling)));
    whole.recipe.model.pooling = pooling;
    const std::string expected = hash_after(whole);
    for (const Index stop : {1, 5, 11}) {
      Training stopped = whole;
      stopped.model_folder += "-stopped-" + std::to_string(stop);
      Watcher watcher;
      watcher.stop_after = stop;
      ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
      EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
    }
  }
}

TEST(ClassificationTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyClasses toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.classes("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(ClassificationTask, StopsEarlyByAccuracy) {
  const ToyClasses toy;
  Training training = toy.classes("model");
  training.recipe.training.early_stopping = "accuracy";
  training.recipe.training.patience = 2;
  training.recipe.training.validate_every = parse_interval("2u", "");
  training.recipe.training.after = parse_run_length("200u", "");
  Watcher watcher;
  EXPECT_EQ(train_model(training, watcher).end, RunEnd::stopped_early);
  EXPECT_LT(watcher.updates.back().update, 200);
}

models::TransformerConfig config_of(const std::string& folder) {
  return models::load_config(folder);
}

TEST(ClassificationTask, LearnsPairsOfTexts) {
  const ToyProblems toy;
  Watcher watcher;
  train_model(toy.pairs("model"), watcher);
  EXPECT_EQ(watcher.start.data.columns,
            std::vector<std::string>{
                "'label' is the label, 'sentence1' the text, 'sentence2' the text_pair (header)"});
  EXPECT_EQ(watcher.start.data.lengths[0].max, 6);  // two words and an end token, twice
  EXPECT_EQ(watcher.validations.back().score("accuracy"), 1.0);
  EXPECT_TRUE(config_of(toy.file("model")).text_pairs);
}

TEST(ClassificationTask, LearnsSeveralLabelsForEachLine) {
  const ToyProblems toy;
  Watcher watcher;
  train_model(toy.label_sets("model"), watcher);
  EXPECT_EQ(watcher.start.data.classes.size(), 2u);
  EXPECT_EQ(watcher.validations.back().score("micro_f1"), 1.0);
  EXPECT_EQ(watcher.validations.back().score("macro_f1"), 1.0);
  EXPECT_EQ(watcher.validations.back().score("subset_accuracy"), 1.0);
  EXPECT_LT(watcher.validations.back().loss, 0.1);
  const models::TransformerConfig config = config_of(toy.file("model"));
  EXPECT_EQ(config.problem_type, ProblemType::multi_label);
  EXPECT_EQ(config.labels, (std::vector<std::string>{"cold", "warm"}));
}

TEST(ClassificationTask, LearnsNumbersWhateverTheirUnit) {
  const ToyProblems toy;
  Watcher watcher;
  train_model(toy.numbers("model"), watcher);
  EXPECT_TRUE(watcher.start.data.classes.empty());
  const ValidationReport& last = watcher.validations.back();
  EXPECT_GT(last.score("pearson").value(), 0.98);
  EXPECT_GT(last.score("spearman").value(), 0.95);
  EXPECT_LT(last.score("mse").value(), 500);  // the variance is about 10,000
  const models::TransformerConfig config = config_of(toy.file("model"));
  EXPECT_EQ(config.problem_type, ProblemType::regression);
  EXPECT_EQ(config.labels, std::vector<std::string>{"score"});
  EXPECT_NEAR(config.score_mean, 1200, 30);
  EXPECT_NEAR(config.score_scale, 100, 20);
  // The loss is the share of the variance that is left.
  const double scale = config.score_scale;
  EXPECT_NEAR(last.loss, last.score("mse").value() / (scale * scale), 1e-4 * last.loss);
}

TEST(ClassificationTask, ResumesEveryProblemWithTheSameBits) {
  const ToyProblems toy;
  for (Training whole : {toy.pairs("pairs"), toy.label_sets("sets"), toy.numbers("numbers")}) {
    SCOPED_TRACE(whole.model_folder);
    whole.recipe.training.after = parse_run_length("14u", "");
    const std::string expected = hash_after(whole);
    Training stopped = whole;
    stopped.model_folder += "-stopped";
    Watcher watcher;
    watcher.stop_after = 8;
    ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
    EXPECT_EQ(hash_after(stopped), expected);
  }
}

TEST(ClassificationTask, KeepsTheProblemOfARun) {
  const ToyProblems toy;
  Training training = toy.numbers("model");
  training.recipe.training.after = parse_run_length("2u", "");
  hash_after(training);
  training.recipe.model.problem_type = ProblemType::single_label;
  expect_error(ErrorKind::usage,
               "`problem_type`: expected regression, with which this run was started, found "
               "single_label_classification",
               [&] { hash_after(training); });
}

TEST(ClassificationTask, StopsEarlyByTheScoresOfEveryProblem) {
  const ToyProblems toy;
  for (const std::string metric : {"pearson", "spearman", "mse"}) {
    Training training = toy.numbers("model-" + metric);
    training.recipe.training.after = parse_run_length("2u", "");
    training.recipe.training.early_stopping = metric;
    EXPECT_NO_THROW(hash_after(training));
  }
  Training training = toy.label_sets("model");
  training.recipe.training.early_stopping = "accuracy";
  expect_refused(ErrorKind::usage, training,
                 "`early_stopping`: expected none, loss, micro-f1, macro-f1 or subset-accuracy for "
                 "this task, found accuracy");
}

TEST(ClassificationTask, RefusesWhatDoesNotFitItsProblem) {
  const ToyProblems toy;
  Training training = toy.label_sets("model");
  training.recipe.training.class_weights = ClassWeights::balanced;
  expect_refused(ErrorKind::usage, training,
                 "`class_weights`: expected none for the problem type multi_label_classification, "
                 "found balanced");
  training = toy.numbers("model");
  std::ofstream(toy.file("numbers.tsv")) << "5\tred\n5\tblue\n";
  expect_refused(ErrorKind::data, training,
                 toy.file("numbers.tsv") + ": expected numbers that differ, found only 5");
  std::ofstream(toy.file("numbers.tsv")) << "5\tred\nhigh\tblue\n";
  expect_refused(ErrorKind::data, training,
                 toy.file("numbers.tsv") +
                     ":2: expected a number for the label of a regression, found \"high\"");
  training = toy.pairs("model");
  training.files["valid-labelled"] = toy.file("single.tsv");
  std::ofstream(toy.file("single.tsv")) << "label\ttext\none\tred\n";
  expect_refused(ErrorKind::data, training,
                 toy.file("single.tsv") +
                     ":1: expected a column 'text_pair', found label, text; say which with "
                     "`fields` LABEL,TEXT,TEXT_PAIR, or `no_header` if that is data");
}

TEST(BalancedWeights, LetAllClassesCountTheSame) {
  const std::vector<int> classes{0, 0, 0, 1, 2, 2};
  const std::vector<float> weights = balanced_weights(classes, 4);
  EXPECT_FLOAT_EQ(weights[0], 6.0f / (4 * 3));
  EXPECT_FLOAT_EQ(weights[1], 6.0f / 4);
  EXPECT_FLOAT_EQ(weights[2], 6.0f / (4 * 2));
  EXPECT_EQ(weights[3], 0);
}

TEST(ClassificationTask, ClassWeightsChangeWhatIsLearned) {
  const ToyClasses toy;
  Training balanced = toy.classes("balanced");
  balanced.recipe.training.class_weights = ClassWeights::balanced;
  EXPECT_NE(hash_after(balanced), hash_after(toy.classes("plain")));
}

TEST(ClassificationTask, RefusesWhatDoesNotFitLabelledLines) {
  const ToyClasses toy;
  Training training = toy.classes("model");
  training.recipe.model.decoder_layers = 1;
  expect_refused(ErrorKind::usage, training,
                 "model: expected no decoder layers for heed-classifier, found 1");
  training = toy.classes("model");
  training.recipe.training.bpe_dropout = 0.1;
  training.recipe.tokenizer.subwords = text::Subwords::bpe;
  expect_refused(ErrorKind::usage, training, "`bpe_dropout`: expected 0 for `labelled`, found 0.1");
  training = toy.classes("model");
  training.recipe.training.early_stopping = "bleu";
  expect_refused(
      ErrorKind::usage, training,
      "`early_stopping`: expected none, loss, accuracy or macro-f1 for this task, found bleu");
  training = toy.classes("model");
  std::ofstream(toy.file("valid.tsv")) << "warm\tred\nmild\tgreen\n";
  expect_refused(
      ErrorKind::data, training,
      toy.file("valid.tsv") + ":2: expected one of the 3 labels of the model, found mild");
  std::ofstream(toy.file("train.tsv")) << "warm\tred\nwarm\tgreen\n";
  expect_refused(ErrorKind::data, training,
                 toy.file("train.tsv") + ": expected lines of at least 2 labels, found 1");
}

TEST(BaseModel, GivesAClassifierItsTokenizerEmbeddingAndEncoder) {
  const ToyClasses toy;
  hash_after(toy.masked("masked"));
  Training training = toy.classes("model");
  training.files["from"] = toy.file("masked");
  training.recipe.training.schedule.peak = 0;  // so that it stays what it began as
  hash_after(training);

  const auto from = models::load_model_folder<models::MaskedModel>(toy.file("masked"));
  const auto tuned = models::load_model_folder<models::Classifier>(toy.file("model"));
  EXPECT_EQ(tuned.tokenizer.bytes(), from.tokenizer.bytes());
  const auto theirs = models::parameters(from.model), ours = models::parameters(tuned.model);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(ours[i].name, theirs[i].name);
    EXPECT_TRUE(std::ranges::equal(ours[i].value.values(), theirs[i].value.values()))
        << ours[i].name;
  }
}

TEST(BaseModel, GivesItsHeadOnlyForTheSameLabels) {
  const ToyClasses toy;
  hash_after(toy.classes("first"));
  const auto head_of = [](const std::string& folder) {
    const Tensor head =
        models::parameters(models::load_model_folder<models::Classifier>(folder).model)
            .back()
            .value;
    return std::vector<float>(head.values().begin(), head.values().end());
  };
  Training second = toy.classes("second");
  second.files["from"] = toy.file("first");
  second.recipe.training.schedule.peak = 0;
  hash_after(second);
  EXPECT_EQ(head_of(toy.file("second")), head_of(toy.file("first")));

  std::ofstream(toy.file("other.tsv")) << "hot\tthe red\nnot\tthe blue\n";
  Training third = second;
  third.model_folder = toy.file("third");
  third.files = {{"labelled", toy.file("other.tsv")}, {"from", toy.file("first")}};
  hash_after(third);
  EXPECT_EQ(head_of(toy.file("third")), (std::vector<float>{0, 0}));
}

TEST(BaseModel, IsNotNeededToResume) {
  const ToyClasses toy;
  hash_after(toy.masked("masked"));
  Training whole = toy.classes("whole");
  whole.files["from"] = toy.file("masked");
  const std::string expected = hash_after(whole);
  Training stopped = whole;
  stopped.model_folder = toy.file("stopped");
  Watcher watcher;
  watcher.stop_after = 9;
  train_model(stopped, watcher);
  std::filesystem::remove_all(toy.file("masked"));
  EXPECT_EQ(hash_after(stopped), expected);
}

TEST(BaseModel, ADifferentOneIsRefusedWhenTheRunIsResumed) {
  const ToyClasses toy;
  hash_after(toy.masked("masked"));
  Training training = toy.classes("model");
  training.files["from"] = toy.file("masked");
  hash_after(training);
  training.files.erase("from");
  EXPECT_THROW(hash_after(training), Error);
}

TEST(BaseModel, WithAnotherNetworkIsRefusedByTheSettingThatDiffers) {
  const ToyClasses toy;
  Training masked = toy.masked("masked");
  masked.recipe.model.model_dim = 8;
  hash_after(masked);
  Training training = toy.classes("model");
  training.files["from"] = toy.file("masked");
  expect_refused(ErrorKind::usage, training,
                 "`width`: expected 8 as in `from` " + toy.file("masked") + ", found 16");
  copy_architecture(training.recipe, toy.file("masked"));
  EXPECT_EQ(training.recipe.model.model_dim, 8);
  EXPECT_NE(hash_after(training), "");
}

TEST(BaseModel, OfAnotherKindIsRefused) {
  const ToyClasses toy;
  std::ofstream(toy.file("text.txt")) << "red green blue red green blue red green blue\n";
  Training writer{toy.file("writer"), {{"text", toy.file("text.txt")}}, recipe_preset("char")};
  writer.recipe.model.max_positions = 4;
  writer.recipe.training.after = parse_run_length("1u", "");
  hash_after(writer);
  Training training = toy.classes("model");
  training.files["from"] = toy.file("writer");
  expect_refused(
      ErrorKind::model, training,
      toy.file("writer") +
          ": expected a model to initialise a heed-classifier from, found a heed-language");
}

}  // namespace
}  // namespace heed::train
