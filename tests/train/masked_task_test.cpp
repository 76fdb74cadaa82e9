#include "heed/train/masked_task.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/parallel.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "support/expect_error.h"
#include "train/toy_classes.h"

namespace heed::train {
namespace {

TEST(MaskedTask, LearnsWhatWasHiddenAndShowsIt) {
  const ToyClasses toy;
  Training training = toy.masked("model");
  training.recipe.training.after = parse_run_length("60u", "");
  Watcher watcher;
  const TrainingResult result = train_model(training, watcher);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_EQ(watcher.start.data.examples, "lines");
  EXPECT_LT(watcher.validations.back().loss, watcher.validations.front().loss);
  ASSERT_EQ(watcher.validations.back().samples.size(), 3u);
  for (const Sample& sample : watcher.validations.back().samples) {
    EXPECT_EQ(sample.output.find("<mask>"), std::string::npos) << sample.output;
    EXPECT_FALSE(sample.reference.empty());
  }
  const auto loaded = models::load_model_folder<models::MaskedModel>(toy.file("model"));
  EXPECT_EQ(models::weights_hash(models::parameters(loaded.model)), result.weights_hash);
  EXPECT_TRUE(loaded.tokenizer.mask().has_value());
}

TEST(MaskedTask, HidesOtherTokensInEveryEpoch) {
  const ToyClasses toy;
  Training training = toy.masked("model");
  training.recipe.training.after = parse_run_length("2e", "");
  training.recipe.training.batch_tokens = 4096;  // an epoch is one batch
  training.recipe.training.schedule.peak = 0;
  training.recipe.model.dropout = 0;
  Watcher watcher;
  train_model(training, watcher);
  ASSERT_EQ(watcher.updates.size(), 2u);
  EXPECT_EQ(watcher.updates[0].source_tokens, watcher.updates[1].source_tokens);
  EXPECT_NE(watcher.updates[0].likelihood_loss, watcher.updates[1].likelihood_loss);
}

TEST(MaskedTask, ResumesWithTheSameBits) {
  const ToyClasses toy;
  const std::string expected = hash_after(toy.masked("whole"));
  for (const Index stop : {1, 5, 11}) {
    const Training stopped = toy.masked("stopped-" + std::to_string(stop));
    Watcher watcher;
    watcher.stop_after = stop;
    ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
    EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
  }
}

TEST(MaskedTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyClasses toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.masked("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(MaskedTask, RefusesWhatDoesNotFitMaskedLines) {
  const ToyClasses toy;
  Training training = toy.masked("model");
  training.recipe.tokenizer.subwords = text::Subwords::byte;
  expect_error(ErrorKind::usage,
               "subwords: expected bpe, unigram, word or char for masked words, got byte",
               [&] { hash_after(training); });
  training = toy.masked("model");
  training.recipe.training.early_stopping = "accuracy";
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none or loss for this task, found accuracy",
               [&] { hash_after(training); });
  training = toy.masked("model");
  training.files["labelled"] = toy.file("train.tsv");
  expect_error(ErrorKind::usage, "`masked`: cannot be combined with `labelled`",
               [&] { hash_after(training); });
  EXPECT_FALSE(std::filesystem::exists(toy.file("model")));
}

}  // namespace
}  // namespace heed::train
