#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/train/task_types.h"
#include "heed/train/training.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

// Lines of colours, in which green always follows red.
class ToyText {
 public:
  ToyText() {
    write("train.txt", 200, 1);
    write("valid.txt", 30, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  void write(const std::string& name, int lines, std::uint64_t key) const {
    static const std::vector<std::string> words{"red green", "blue", "black", "white"};
    std::ofstream out(file(name));
    Rng rng(key);
    for (int i = 0; i < lines; ++i) {
      out << words[rng.below(4)] << ' ' << words[rng.below(4)] << '\n';
    }
  }

  Training training(const std::string& model) const {
    Training training{
        file(model), {{"text", file("train.txt")}, {"valid-text", file("valid.txt")}}, {}};
    training.recipe = recipe_preset("char");
    training.recipe.model.decoder_layers = 1;
    training.recipe.model.model_dim = 16;
    training.recipe.model.feed_forward_dim = 32;
    training.recipe.model.num_heads = 2;
    training.recipe.model.max_positions = 12;
    training.recipe.model.dropout = 0.1f;
    training.recipe.training.batch_tokens = 120;
    training.recipe.training.schedule.warm_up = 4;
    training.recipe.training.schedule.peak = 0.01;
    training.recipe.training.validate_every = parse_interval("7u", "");
    training.recipe.training.save_every = parse_interval("5u", "");
    training.recipe.training.after = parse_run_length("30u", "");
    return training;
  }

 private:
  TemporaryFolder folder_;
};

struct Watcher : TrainingObserver {
  Index stop_after = -1;
  Index update = 0;
  RunStart start;
  std::vector<ValidationReport> validations;

  bool should_stop() override { return stop_after >= 0 && update >= stop_after; }
  void on_start(const RunStart& report) override {
    start = report;
    update = report.update;
  }
  void on_update(const UpdateReport& report) override { update = report.update; }
  void on_validation(const ValidationReport& report) override { validations.push_back(report); }
};

std::string hash_after(const Training& training, Index stop_after = -1) {
  Watcher watcher;
  watcher.stop_after = stop_after;
  return train_model(training, watcher).weights_hash;
}

std::string refusal(const Training& training, ErrorKind kind) {
  try {
    hash_after(training);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(LanguageTask, LearnsTheToyText) {
  const ToyText toy;
  Training training = toy.training("model");
  training.recipe.training.after = parse_run_length("300u", "");
  training.recipe.training.validate_every = parse_interval("150u", "");
  Watcher watcher;
  train_model(training, watcher);
  ASSERT_EQ(watcher.validations.size(), 2u);
  EXPECT_LT(watcher.validations.back().loss, watcher.validations.front().loss);
  EXPECT_LT(watcher.validations.back().loss, 0.75);  // of log 21 = 3 to begin with
  EXPECT_FALSE(watcher.validations.back().samples.at(0).output.empty());
  EXPECT_EQ(watcher.start.data.examples, "windows of 12 tokens");
}

TEST(LanguageTask, ResumesWithTheSameBits) {
  const ToyText toy;
  const std::string expected = hash_after(toy.training("whole"));
  for (const Index stop : {0, 3, 7, 23}) {
    Training stopped = toy.training("stopped-" + std::to_string(stop));
    EXPECT_EQ(hash_after(stopped, stop), "");
    EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
  }
}

TEST(LanguageTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyText toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.training("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(LanguageTask, TakesEveryKindOfPiecesButWords) {
  const ToyText toy;
  for (const auto subwords :
       {text::Subwords::bpe, text::Subwords::character, text::Subwords::byte}) {
    Training training = toy.training(std::string(name_of(subwords)));
    training.recipe.tokenizer = {.vocabulary = 30, .subwords = subwords};
    EXPECT_NE(hash_after(training), "");
    const auto loaded = models::load_model_folder<models::LanguageModel>(training.model_folder);
    EXPECT_EQ(loaded.tokenizer.subwords(), subwords);
    EXPECT_EQ(loaded.tokenizer.decode(loaded.tokenizer.encode("red\ngreen")), "red\ngreen");
  }
  Training words = toy.training("words");
  words.recipe.tokenizer.subwords = text::Subwords::word;
  EXPECT_EQ(refusal(words, ErrorKind::usage),
            "subwords: expected bpe, unigram, char or byte for a running text, got word");
}

TEST(LanguageTask, RefusesWhatDoesNotFitAText) {
  const ToyText toy;
  Training training = toy.training("model");
  training.recipe.model.encoder_layers = 1;
  EXPECT_EQ(refusal(training, ErrorKind::usage),
            "model: expected no encoder layers for heed-language, found 1");
  training = toy.training("model");
  training.recipe.training.batch_tokens = 11;
  EXPECT_EQ(refusal(training, ErrorKind::usage),
            "`context`: expected at most `batch_tokens`, which is 11, found 12");
  training = toy.training("model");
  training.files["source"] = toy.file("train.txt");
  EXPECT_EQ(refusal(training, ErrorKind::usage),
            "training files: expected `source` and `target`, found no `target`");
  training = toy.training("model");
  training.files["valid-source"] = toy.file("valid.txt");
  EXPECT_EQ(refusal(training, ErrorKind::usage), "`valid_source`: cannot be combined with `text`");
  training = toy.training("model");
  std::ofstream(toy.file("short.txt")) << "red\n";
  training.files["text"] = toy.file("short.txt");
  EXPECT_EQ(refusal(training, ErrorKind::data),
            "text: expected at least 13 tokens, one window and what follows it, found 4");
  EXPECT_FALSE(std::filesystem::exists(toy.file("model")));
}

TEST(TaskTypes, AreToldApartByTheirFiles) {
  EXPECT_EQ(task_type_of({{"text", "a"}}).preset, "gpt-mini");
  EXPECT_EQ(task_type_of({{"prompts", "a"}}).preset, "prompts");
  EXPECT_EQ(task_type_of({{"source", "a"}, {"target", "b"}}).preset, "tiny");
  EXPECT_THROW(task_type_of({}), Error);
  EXPECT_THROW(task_type_of({{"valid-text", "a"}}), Error);
}

}  // namespace
}  // namespace heed::train
