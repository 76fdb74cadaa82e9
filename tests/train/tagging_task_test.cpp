#include "heed/train/tagging_task.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/parallel.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"
#include "support/expect_error.h"
#include "train/toy_tags.h"

namespace heed::train {
namespace {

void expect_refused(ErrorKind kind, const Training& training, const std::string& message) {
  expect_error(kind, message, [&] { hash_after(training); });
  EXPECT_FALSE(std::filesystem::exists(training.model_folder));
}

TEST(TaggingTask, LearnsTheTagsAndTellsHowWell) {
  const ToyTags toy;
  Watcher watcher;
  const TrainingResult result = train_model(toy.tags("model"), watcher);
  EXPECT_EQ(result.end, RunEnd::finished);
  ASSERT_FALSE(watcher.validations.empty());
  const ValidationReport& last = watcher.validations.back();
  ASSERT_EQ(last.scores.size(), 4u);
  for (const std::string name : {"accuracy", "precision", "recall", "f1"}) {
    EXPECT_EQ(last.score(name), 1.0) << name;
  }
  EXPECT_LT(last.loss, watcher.validations.front().loss);
  const auto loaded = models::load_model_folder<models::Tagger>(toy.file("model"));
  EXPECT_EQ(loaded.model.config().labels,
            (std::vector<std::string>{"B-COLOUR", "B-PLACE", "I-PLACE", "O"}));
  EXPECT_EQ(models::weights_hash(models::parameters(loaded.model)), result.weights_hash);
}

TEST(TaggingTask, TellsHowItUnderstoodItsData) {
  const ToyTags toy;
  std::ofstream(toy.file("train.conll")) << "Ada B-PER\nsleeps O\n\nrain O\nagain O\n\n";
  std::ofstream(toy.file("valid.conll")) << "rain O\nsleeps O\n";
  Watcher watcher;
  train_model(toy.tags("model"), watcher);
  const DataSummary& data = watcher.start.data;
  EXPECT_EQ(data.examples, "sentences");
  EXPECT_EQ(data.num_examples, 2);
  EXPECT_EQ(data.num_valid_examples, 1);
  ASSERT_EQ(data.samples.size(), 2u);
  EXPECT_EQ(data.samples[0].input, "Ada sleeps");
  EXPECT_EQ(data.samples[0].output, "B-PER O");
  ASSERT_EQ(data.classes.size(), 2u);
  EXPECT_EQ(data.classes[0].label, "O");
  EXPECT_EQ(data.classes[0].count, 3);
  EXPECT_EQ(data.classes[1].count, 1);
  ASSERT_EQ(data.lengths.size(), 1u);
  EXPECT_EQ(data.lengths[0].max, 3);  // two words and the end token
}

TEST(TaggingTask, LeavesOutLongSentencesAndScoresTheOthers) {
  const ToyTags toy;
  std::ofstream(toy.file("valid.conll")) << "of O\nof O\nof O\nof O\n\nred B-COLOUR\n\nof O\n";
  Training training = toy.tags("model");
  training.recipe.training.max_length = 4;
  Watcher watcher;
  train_model(training, watcher);
  EXPECT_GT(watcher.start.data.num_too_long, 0);
  EXPECT_EQ(watcher.start.data.num_valid_examples, 2);
  EXPECT_EQ(watcher.start.data.num_valid_left_out, 1);
  ASSERT_FALSE(watcher.validations.empty());
}

TEST(TaggingTask, ReportsMacroF1OfTagsThatAreNotThoseOfEntities) {
  const ToyTags toy;
  std::ofstream(toy.file("train.conll")) << "the DET\ncat NOUN\n\na DET\ndog NOUN\n";
  std::ofstream(toy.file("valid.conll")) << "the DET\ndog NOUN\n";
  hash_after(toy.tags("model"));
  nlohmann::json validation;
  for (const std::string& line : text::read_lines(toy.file("model/training/metrics.jsonl"))) {
    const auto entry = nlohmann::json::parse(line);
    if (entry["kind"] == "validation") validation = entry;
  }
  EXPECT_EQ(validation["accuracy"], 1.0);
  EXPECT_EQ(validation["macro_f1"], 1.0);
  EXPECT_FALSE(validation.contains("f1"));
}

TEST(TaggingTask, ResumesWithTheSameBits) {
  const ToyTags toy;
  Training whole = toy.tags("whole");
  whole.recipe.training.after = parse_run_length("24u", "");
  const std::string expected = hash_after(whole);
  for (const Index stop : {1, 5, 11}) {
    Training stopped = whole;
    stopped.model_folder = toy.file("stopped-" + std::to_string(stop));
    Watcher watcher;
    watcher.stop_after = stop;
    ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
    EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
  }
}

TEST(TaggingTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyTags toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.tags("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(TaggingTask, StopsEarlyByTheF1OfEntities) {
  const ToyTags toy;
  Training training = toy.tags("model");
  training.recipe.training.early_stopping = "f1";
  training.recipe.training.patience = 2;
  training.recipe.training.validate_every = parse_interval("2u", "");
  training.recipe.training.after = parse_run_length("300u", "");
  Watcher watcher;
  EXPECT_EQ(train_model(training, watcher).end, RunEnd::stopped_early);
  EXPECT_LT(watcher.updates.back().update, 300);
}

TEST(TaggingTask, TagWeightsChangeWhatIsLearned) {
  const ToyTags toy;
  Training balanced = toy.tags("balanced");
  balanced.recipe.training.class_weights = ClassWeights::balanced;
  EXPECT_NE(hash_after(balanced), hash_after(toy.tags("plain")));
}

TEST(TaggingTask, RefusesWhatDoesNotFitTaggedWords) {
  const ToyTags toy;
  Training training = toy.tags("model");
  training.recipe.training.bpe_dropout = 0.1;
  training.recipe.tokenizer.subwords = text::Subwords::bpe;
  expect_refused(ErrorKind::usage, training, "`bpe_dropout`: expected 0 for `tagged`, found 0.1");
  training = toy.tags("model");
  training.recipe.training.early_stopping = "macro_f1";
  expect_refused(
      ErrorKind::usage, training,
      "`early_stopping`: expected none, loss, accuracy, precision, recall or f1 for this "
      "task, found macro_f1");
  training = toy.tags("model");
  training.recipe.model.truncate_source = 8;
  expect_refused(ErrorKind::usage, training,
                 "`truncate_source`: expected 0, or 2 to `max_length`, which is 32, for pairs and "
                 "labelled lines, found 8");
  training = toy.tags("model");
  std::ofstream(toy.file("valid.conll")) << "of O\n\nred B-COLOR\n";
  expect_refused(
      ErrorKind::data, training,
      toy.file("valid.conll") + ":3: expected one of the 4 tags of the model, found B-COLOR");
  std::ofstream(toy.file("train.conll")) << "of O\nin O\n";
  expect_refused(ErrorKind::data, training,
                 toy.file("train.conll") + ": expected words of at least 2 tags, found 1");
}

TEST(TaggingTask, NamesTheSentencesOfABatch) {
  const ToyTags toy;
  std::ofstream(toy.file("train.conll")) << "of O\nred B-COLOUR\n\nred B-COLOUR\n";
  Recipe recipe = toy.tags("model").recipe;
  recipe.training.max_length = 2;
  TaggingTask task({{"tagged", toy.file("train.conll")}}, recipe);
  task.prepare("");
  EXPECT_EQ(task.describe_batch(0, 0), "sentences 2");
}

TEST(BaseModel, GivesATaggerItsTokenizerEmbeddingAndEncoder) {
  const ToyTags toy;
  hash_after(toy.masked("masked"));
  Training training = toy.tags("model");
  training.files["from"] = toy.file("masked");
  training.recipe.training.schedule.peak = 0;  // so that it stays what it began as
  hash_after(training);

  const auto from = models::load_model_folder<models::MaskedModel>(toy.file("masked"));
  const auto tuned = models::load_model_folder<models::Tagger>(toy.file("model"));
  EXPECT_EQ(tuned.tokenizer.bytes(), from.tokenizer.bytes());
  const auto theirs = models::parameters(from.model), ours = models::parameters(tuned.model);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(ours[i].name, theirs[i].name);
    EXPECT_TRUE(std::ranges::equal(ours[i].value.values(), theirs[i].value.values()))
        << ours[i].name;
  }
}

}  // namespace
}  // namespace heed::train
