#include "heed/train/prompt_task.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/base/parallel.h"
#include "heed/infer/greedy_answers.h"
#include "heed/models/model_folder.h"
#include "support/expect_error.h"
#include "train/toy_classes.h"

namespace heed::train {
namespace {

// What comes after a few words, spelled in capitals: "after red, " -> "RED".
class ToyPrompts {
 public:
  ToyPrompts() {
    write("train.tsv", 60, 1);
    write("valid.tsv", 12, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  void write(const std::string& name, int count, std::uint64_t key) const {
    static const std::vector<std::string> words{"red", "blue", "no"};
    static const std::vector<std::string> answers{"RED", "BLUE", "NO"};
    std::ofstream out(file(name));
    out << "prompt\tcompletion\n";
    Rng rng(key);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t word = rng.below(3);
      out << words[rng.below(3)] << ' ' << words[word] << ":\t" << answers[word] << '\n';
    }
  }

  Training training(const std::string& model) const {
    Training training{
        file(model), {{"prompts", file("train.tsv")}, {"valid-prompts", file("valid.tsv")}}, {}};
    training.recipe = recipe_preset("prompts");
    training.recipe.tokenizer = {.subwords = text::Subwords::character};
    training.recipe.model.decoder_layers = 1;
    training.recipe.model.model_dim = 16;
    training.recipe.model.feed_forward_dim = 32;
    training.recipe.model.num_heads = 2;
    training.recipe.model.max_positions = 32;
    training.recipe.model.dropout = 0.1f;
    training.recipe.training.batch_tokens = 120;
    training.recipe.training.schedule.warm_up = 4;
    training.recipe.training.schedule.peak = 0.02;
    training.recipe.training.validate_every = parse_interval("7u", "");
    training.recipe.training.save_every = parse_interval("5u", "");
    training.recipe.training.after = parse_run_length("24u", "");
    return training;
  }

 private:
  TemporaryFolder folder_;
};

Training long_training(const ToyPrompts& toy, const std::string& model) {
  Training training = toy.training(model);
  training.recipe.model.dropout = 0;
  training.recipe.training.after = parse_run_length("300u", "");
  training.recipe.training.validate_every = parse_interval("150u", "");
  return training;
}

TEST(PromptTask, OnlyAnswersAndTheirEndsHaveALoss) {
  const std::vector<std::string> prompts{"red:", "no:"}, answers{"RED", "NO"};
  const auto tokenizer =
      text::Tokenizer::train(std::vector<std::string>{"red:no:REDNO"},
                             {.subwords = text::Subwords::character, .is_running_text = true});
  const auto corpus = data::PromptCorpus::tokenize(prompts, answers, tokenizer, 20);
  const models::LanguageBatch batch = make_batch(corpus, std::vector<Index>{1, 0});
  EXPECT_EQ(tokenizer.decode(batch.input.ids), "no:NOred:RED");
  EXPECT_EQ(batch.places, (std::vector<Index>{2, 3, 4, 8, 9, 10, 11}));
  std::vector<int> next = tokenizer.encode("NO");
  next.push_back(text::own_tokens::end);
  for (const int id : tokenizer.encode("RED")) next.push_back(id);
  next.push_back(text::own_tokens::end);
  EXPECT_EQ(batch.next, next);
  ASSERT_EQ(batch.input.spans.count(), 2);
  EXPECT_EQ(batch.input.spans[1].begin, 5);
  EXPECT_EQ(batch.input.spans[1].length, 7);
}

TEST(PromptTask, TeachesAModelToAnswerAndToStop) {
  const ToyPrompts toy;
  Watcher watcher;
  train_model(long_training(toy, "model"), watcher);
  EXPECT_EQ(watcher.start.data.examples, "prompts");
  EXPECT_EQ(watcher.start.data.columns,
            std::vector<std::string>{"'prompt' is the prompt, 'completion' the answer (header)"});
  ASSERT_FALSE(watcher.validations.empty());
  EXPECT_LT(watcher.validations.back().loss, 0.1);
  EXPECT_EQ(watcher.validations.back().score("exact_match"), 100);
  const Sample& sample = watcher.validations.back().samples.at(0);
  EXPECT_EQ(sample.output, sample.reference);

  const auto generator = infer::TextGenerator::load(toy.file("model"));
  const std::vector<std::string> prompts{"red blue:", "blue no:"};
  const auto texts = generator.generate(prompts, {.sampling = {.temperature = 0}});
  EXPECT_EQ(texts[0].text, "BLUE");
  EXPECT_EQ(texts[1].text, "NO");
  for (const infer::GeneratedText& text : texts) EXPECT_EQ(text.ending, infer::Ending::end_token);
}

TEST(PromptTask, TrainsALanguageModelFurther) {
  const ToyPrompts toy;
  std::ofstream(toy.file("text.txt")) << "red blue:RED\nno BLUE:\nNO\nred no: red blue:RED\n";
  Training text = toy.training("base");
  text.files = {{"text", toy.file("text.txt")}};
  text.recipe.training.after = parse_run_length("2u", "");
  hash_after(text);
  Training tuned = long_training(toy, "tuned");
  tuned.files["from"] = toy.file("base");
  Watcher watcher;
  train_model(tuned, watcher);
  EXPECT_EQ(watcher.validations.back().score("exact_match"), 100);
  EXPECT_EQ(models::load_tokenizer(toy.file("tuned")).bytes(),
            models::load_tokenizer(toy.file("base")).bytes());
}

TEST(PromptTask, ResumesWithTheSameBits) {
  const ToyPrompts toy;
  const std::string expected = hash_after(toy.training("whole"));
  for (const Index stop : {1, 5, 11}) {
    const Training stopped = toy.training("stopped-" + std::to_string(stop));
    Watcher watcher;
    watcher.stop_after = stop;
    ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
    EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
  }
}

TEST(PromptTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyPrompts toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.training("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(PromptTask, LeavesOutWhatDoesNotFitIntoTheContextAndSaysSo) {
  const ToyPrompts toy;
  std::ofstream(toy.file("train.tsv"), std::ios::app) << "red red red red red red red red:\tRED\n";
  Watcher watcher;
  train_model(toy.training("model"), watcher);
  EXPECT_EQ(watcher.start.data.num_examples, 60);
  EXPECT_EQ(watcher.start.data.num_too_long, 1);
  const auto& warnings = watcher.start.data.warnings;
  EXPECT_EQ(std::ranges::count(warnings,
                               "prompts whose answers end beyond the `context` of 32 tokens are "
                               "left out"),
            1);
}

TEST(PromptTask, LearnsLineEndsInsideAPrompt) {
  const ToyPrompts toy;
  std::ofstream(toy.file("train.jsonl"))
      << R"({"question": "red\nno:\n", "answer": "NO\nNO"})" << '\n';
  Training training = toy.training("model");
  training.files = {{"prompts", toy.file("train.jsonl")}};
  training.recipe.tokenizer = {.vocabulary = 20, .fit_vocabulary = true};
  training.recipe.training.after = parse_run_length("60u", "");
  hash_after(training);
  const auto generator = infer::TextGenerator::load(toy.file("model"));
  EXPECT_EQ(infer::greedy_answers(generator, std::vector<std::string>{"red\nno:\n"}).front(),
            "NO\nNO");
}

TEST(PromptTask, RefusesWhatDoesNotFitPrompts) {
  const ToyPrompts toy;
  Training training = toy.training("model");
  training.recipe.tokenizer = {.vocabulary = 30};
  training.recipe.training.bpe_dropout = 0.1;
  expect_error(ErrorKind::usage, "`bpe_dropout`: expected 0 for `prompts`, found 0.1",
               [&] { hash_after(training); });
  training = toy.training("model");
  training.recipe.training.early_stopping = "bleu";
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none, loss or exact-match for this task, found bleu",
               [&] { hash_after(training); });
  training = toy.training("model");
  training.files["text"] = toy.file("train.tsv");
  expect_error(ErrorKind::usage, "`prompts`: cannot be combined with `text`",
               [&] { hash_after(training); });
  EXPECT_FALSE(std::filesystem::exists(toy.file("model")));
}

}  // namespace
}  // namespace heed::train
