#include "heed/cli/train_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "heed/base/error.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/evaluate_command.h"
#include "heed/cli/presets_command.h"
#include "heed/infer/translator.h"
#include "heed/io/descriptor.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/text/csv.h"
#include "heed/text/lines.h"
#include "heed/train/checkpoint.h"
#include "heed/train/training_folder.h"
#include "support/paths.h"
#include "train/toy_classes.h"
#include "train/toy_images.h"
#include "train/toy_tags.h"
#include "train/toy_training.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;
using train::ToyTraining;

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run(std::vector<std::string> arguments) {
  std::vector<const char*> argv{"heed", "train"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program(static_cast<int>(argv.size()), argv.data(), {train_command()});
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::vector<std::string> toy_arguments(const ToyTraining& toy, const std::string& model) {
  return {"--source",         toy.file("train.en"),
          "--target",         toy.file("train.de"),
          "--valid-source",   toy.file("valid.en"),
          "--valid-target",   toy.file("valid.de"),
          "--model",          toy.file(model),
          "--encoder-layers", "1",
          "--decoder-layers", "1",
          "--width",          "16",
          "--feed-forward",   "24",
          "--heads",          "2",
          "--vocabulary",     "20",
          "--subwords",       "word",
          "--batch-tokens",   "48",
          "--max-length",     "32",
          "--warm-up",        "4",
          "--after",          "16u"};
}

std::vector<std::string> with(std::vector<std::string> arguments,
                              std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

// The value of an option replaced.
std::vector<std::string> replaced(std::vector<std::string> arguments, const std::string& option,
                                  const std::string& value) {
  *(std::ranges::find(arguments, option) + 1) = value;
  return arguments;
}

void expect_one_line(const std::string& text) {
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_EQ(text.rfind("heed: ", 0), 0u) << text;
}

TEST(TrainCommand, ARunByTheClockKeepsTheScheduleOfItsPreset) {
  const ToyTraining toy;
  EXPECT_EQ(run(replaced(toy_arguments(toy, "model"), "--after", "0.001m")).code, 0);
  EXPECT_EQ(train::saved_run(toy.file("model"))->recipe.training.schedule.kind,
            train::ScheduleKind::linear);
}

TEST(TrainCommand, PrintsTheHashOfTheWeightsAndTellsItsProgress) {
  const ToyTraining toy;
  const Outcome outcome = run(toy_arguments(toy, "model"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("weights sha256:", 0), 0u) << outcome.out;
  EXPECT_EQ(outcome.out.size(), std::string("weights sha256:").size() + 64 + 1);
  EXPECT_NE(outcome.err.find("validation  update 16"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("BLEU"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos);
  EXPECT_TRUE(fs::exists(toy.file("model/training/metrics.jsonl")));
}

TEST(TrainCommand, QuietSaysNothingWhileAllIsWell) {
  const ToyTraining toy;
  const Outcome outcome = run(with(toy_arguments(toy, "model"), {"--quiet"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(TrainCommand, TheSameCommandAgainSaysThatTheRunIsFinished) {
  const ToyTraining toy;
  const auto arguments = toy_arguments(toy, "model");
  const Outcome first = run(arguments);
  const Outcome second = run(arguments);
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.out, first.out);
  EXPECT_NE(second.err.find("finished after update 16"), std::string::npos) << second.err;
}

TEST(TrainCommand, ResumeNeedsNothingButTheFolder) {
  const ToyTraining toy;
  // A schedule that does not know its end: a shorter run is the beginning of a longer one.
  const std::initializer_list<std::string> schedule{"--schedule", "inverse-sqrt"};
  const Outcome whole = run(with(toy_arguments(toy, "whole"), schedule));
  run(with(replaced(toy_arguments(toy, "model"), "--after", "7u"), schedule));
  const Outcome resumed =
      run({"--model", toy.file("model"), "--resume", "--after", "16u", "--threads", "1"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
}

TEST(TrainCommand, ResumeNeedsARun) {
  const ToyTraining toy;
  const Outcome outcome = run({"--model", toy.file("model"), "--resume"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err);
}

TEST(TrainCommand, OverwriteReplacesARunAndItsModel) {
  const ToyTraining toy;
  const auto other = replaced(toy_arguments(toy, "model"), "--heads", "4");
  const std::string expected = run(replaced(other, "--model", toy.file("fresh"))).out;
  run(toy_arguments(toy, "model"));
  EXPECT_EQ(run(other).code, 2);
  const Outcome outcome = run(with(other, {"--overwrite"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected);
  EXPECT_EQ(run(with(other, {"--overwrite", "--resume"})).code, 2);
}

TEST(TrainCommand, AModelWithoutACheckpointIsNamedWithTheOptionsThatHelp) {
  const ToyTraining toy;
  const auto arguments = toy_arguments(toy, "model");
  run(arguments);
  fs::remove_all(toy.file("model/training"));
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "heed: " + toy.file("model") +
                ": expected a checkpoint to resume from, found a model without one; move it away, "
                "fine-tune it with --from, or replace it with --overwrite\n");
}

TEST(TrainCommand, ResumesAFineTunedRunWhoseBaseModelIsGone) {
  const ToyTraining toy;
  run(toy_arguments(toy, "base"));
  const auto tune = [&](const std::string& model, const std::string& after) {
    return run({"--source", toy.file("train.en"), "--target", toy.file("train.de"), "--from",
                toy.file("base"), "--model", toy.file(model), "--after", after, "--schedule",
                "inverse-sqrt", "--batch-tokens", "48", "--max-length", "32"});
  };
  const std::string whole = tune("whole", "9u").out;
  const Outcome stopped = tune("tuned", "4u");
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  fs::remove_all(toy.file("base"));
  const Outcome resumed = tune("tuned", "9u");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole);
  EXPECT_EQ(tune("another", "4u").code, 4);
  EXPECT_FALSE(fs::exists(toy.file("another")));
}

TEST(TrainCommand, NamesTheOptionThatDiffersFromTheRunBefore) {
  const ToyTraining toy;
  const auto arguments = toy_arguments(toy, "model");
  run(replaced(arguments, "--after", "3u"));
  const Outcome outcome = run(replaced(arguments, "--heads", "4"));
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err);
  EXPECT_NE(outcome.err.find("--heads: expected 2"), std::string::npos) << outcome.err;
}

TEST(TrainCommand, ReadsSettingsFromAFile) {
  const ToyTraining toy;
  std::ofstream(toy.file("settings")) << "dropout = 0.25\nschedule = constant\n";
  const Outcome outcome =
      run(with(toy_arguments(toy, "model"), {"--config", toy.file("settings"), "--quiet"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto saved = train::saved_run(toy.file("model"));
  EXPECT_EQ(saved->recipe.model.dropout, 0.25f);
  EXPECT_EQ(saved->recipe.training.schedule.kind, train::ScheduleKind::constant);
}

// `arguments` without an option and its value.
std::vector<std::string> without(std::vector<std::string> arguments, const std::string& option) {
  const auto at = std::ranges::find(arguments, option);
  arguments.erase(at, at + 2);
  return arguments;
}

train::Recipe saved_recipe(const ToyTraining& toy, const std::string& model) {
  return train::saved_run(toy.file(model))->recipe;
}

TEST(TrainCommand, ATypedValueIsTakenAsItIsUnderEveryNameOfItsOption) {
  const ToyTraining toy;
  const auto others = without(without(toy_arguments(toy, "m"), "--warm-up"), "--vocabulary");
  EXPECT_EQ(run(with(others, {"--lr-warmup", "9", "--vocab-size", "20"})).code, 0);
  const train::Recipe recipe = saved_recipe(toy, "m");
  EXPECT_EQ(recipe.training.schedule.warm_up, 9);
  EXPECT_EQ(recipe.training.schedule.max_warm_up_share, 1);
  EXPECT_EQ(recipe.tokenizer.vocabulary, 20);
}

TEST(TrainCommand, EpochsAndUpdatesAreLimitsThatGoTogetherButNotWithAfter) {
  const ToyTraining toy;
  const auto others = without(toy_arguments(toy, "m"), "--after");
  EXPECT_EQ(run(with(others, {"--epochs", "50", "--max-steps", "3"})).code, 0);
  EXPECT_EQ(saved_recipe(toy, "m").training.after, train::parse_run_length("50e,3u", "after"));
  EXPECT_EQ(run({"--model", toy.file("m"), "--resume", "--max-updates", "4"}).code, 0);
  EXPECT_EQ(saved_recipe(toy, "m").training.after, train::updates(4));
  const Outcome both = run(with(toy_arguments(toy, "both"), {"--epochs", "2"}));
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.err, "heed: --after: cannot be combined with --epochs (see heed train --help)\n");
  const Outcome bad = run(with(others, {"--epochs", "0"}));
  EXPECT_TRUE(bad.err.starts_with("heed: --epochs: expected a whole number from 1 ")) << bad.err;
}

TEST(TrainCommand, HelpShowsAtMostOneAlias) {
  const std::string help = run({"--help"}).out;
  EXPECT_NE(help.find("--warm-up,--warmup-steps VALUE"), std::string::npos) << help;
  EXPECT_NE(help.find("--labelled,--labeled FILE"), std::string::npos) << help;
  EXPECT_EQ(help.find("lr-warmup"), std::string::npos) << help;
}

TEST(TrainCommand, HelpShowsTheValuesOfThePresetBesideIt) {
  const std::string automatic = run({"--help"}).out;
  EXPECT_NE(automatic.find("preset auto;"), std::string::npos) << automatic;
  EXPECT_NE(automatic.find("peak learning rate [auto]"), std::string::npos) << automatic;
  EXPECT_NE(automatic.find("random seed [1]"), std::string::npos) << automatic;
  for (const auto& order : {std::vector<std::string>{"--preset", "gpt-mini", "--help"},
                            std::vector<std::string>{"--help", "--preset", "gpt-mini"}}) {
    const std::string mini = run(order).out;
    EXPECT_NE(mini.find("preset gpt-mini;"), std::string::npos) << mini;
    EXPECT_NE(mini.find("peak learning rate [0.002]"), std::string::npos) << mini;
  }
  EXPECT_EQ(run({"--preset", "huge", "--help"}).code, 2);
}

TEST(TrainCommand, ReadsTheSettingsThatThePresetsCommandPrints) {
  const ToyTraining toy;
  std::ofstream settings(toy.file("settings"));
  presets({.preset = "demo"}, settings);
  settings.close();
  EXPECT_EQ(run(with(toy_arguments(toy, "m"), {"--config", toy.file("settings")})).code, 0);
  EXPECT_EQ(saved_recipe(toy, "m").training.optimizer.clip, 1);
  EXPECT_EQ(saved_recipe(toy, "m").training.optimizer.beta2, 0.98);
}

TEST(TrainCommand, AskingForAMovingAverageSwitchesThePresetsAveragingOff) {
  const ToyTraining toy;
  EXPECT_EQ(run(with(toy_arguments(toy, "model"), {"--ema", "0.9"})).code, 0);
  EXPECT_EQ(run(with(toy_arguments(toy, "both"), {"--ema", "0.9", "--average", "3"})).code, 2);
}

TEST(TrainCommand, BadInputGetsOneLineAndItsExitCodeAndLeavesNothing) {
  const ToyTraining toy;
  const auto good = toy_arguments(toy, "model");
  std::ofstream(toy.file("latin1")) << "caf\xe9\n";
  std::ofstream(toy.file("empty"));
  struct Case {
    std::vector<std::string> arguments;
    int code;
  };
  const std::vector<Case> cases{
      {replaced(good, "--source", toy.file("missing")), 3},
      {replaced(good, "--target", toy.file("valid.de")), 3},
      {replaced(replaced(good, "--source", toy.file("latin1")), "--target", toy.file("latin1")), 3},
      {replaced(replaced(good, "--source", toy.file("empty")), "--target", toy.file("empty")), 3},
      {replaced(replaced(good, "--subwords", "bpe"), "--vocabulary", "9999"), 3},
      {replaced(good, "--heads", "3"), 2},
      {replaced(good, "--after", "soon"), 2},
      {replaced(good, "--width", "wide"), 2},
      {replaced(good, "--width", "1000000"), 1},  // no such memory
      {with(good, {"--epsilon", "0"}), 2},
      {with(good, {"--epsilon", "1e-50"}), 2},  // 0 as a float
      {with(good, {"--resume-previous"}), 2},
      {with(good, {"--preset", "huge"}), 2},
      {with(good, {"--bpe-dropout", "0.1"}), 2},  // the pieces are words
      {with(replaced(good, "--subwords", "bpe"), {"--bpe-dropout", "1"}), 2},
      {with(good, {"--early-stopping", "luck"}), 2},
      {with(good, {"--no-such-option"}), 2},
      {with(good, {"--threads", "0"}), 2},
      {{"--model", toy.file("model")}, 2},
      {{"--source", toy.file("train.en"), "--target", toy.file("train.de")}, 2}};
  for (const Case& bad : cases) {
    const Outcome outcome = run(bad.arguments);
    EXPECT_EQ(outcome.code, bad.code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    expect_one_line(outcome.err);
    EXPECT_FALSE(fs::exists(toy.file("model"))) << outcome.err;
  }
}

TEST(TrainCommand, DivergenceHasItsOwnExitCode) {
  const ToyTraining toy;
  const Outcome outcome = run(with(
      replaced(toy_arguments(toy, "model"), "--warm-up", "0"),
      {"--optimizer", "adamw", "--learning-rate", "1e6", "--weight-decay", "1e3", "--clip", "0"}));
  EXPECT_EQ(outcome.code, 5) << outcome.err;
}

TEST(TrainCommand, AnAbsurdRateFailsAlthoughEveryLossIsFinite) {
  const ToyTraining toy;
  const auto short_run = replaced(toy_arguments(toy, "model"), "--after", "6u");
  const Outcome outcome =
      run(with(replaced(short_run, "--warm-up", "0"), {"--learning-rate", "1e6"}));
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_FALSE(fs::exists(toy.file("model/model.safetensors")));
}

TEST(TrainCommand, AModelThatIsTooLargeForTheMemoryIsRefusedWithItsSize) {
  const ToyTraining toy;
  const Outcome outcome = run(replaced(toy_arguments(toy, "model"), "--width", "1000000"));
  EXPECT_EQ(outcome.code, 1);
  expect_one_line(outcome.err);
  EXPECT_NE(outcome.err.find(" GB of memory for "), std::string::npos) << outcome.err;
}

TEST(TrainCommand, ARunThatEndsWithWeightsThatAreNotFiniteFails) {
  const ToyTraining toy;
  const auto short_run = replaced(toy_arguments(toy, "model"), "--after", "6u");
  const Outcome outcome = run(with(
      replaced(short_run, "--warm-up", "0"),
      {"--optimizer", "adamw", "--learning-rate", "1e6", "--weight-decay", "1e3", "--clip", "0"}));
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(toy.file("model/model.safetensors")));
}

TEST(TrainCommand, StrictStopsWithoutARollback) {
  const ToyTraining toy;
  const std::vector<std::string> arguments = with(
      replaced(toy_arguments(toy, "model"), "--warm-up", "0"),
      {"--optimizer", "adamw", "--learning-rate", "1e6", "--weight-decay", "1e3", "--clip", "0"});
  const Outcome strict = run(with(arguments, {"--strict"}));
  EXPECT_EQ(strict.code, 5) << strict.err;
  EXPECT_EQ(strict.err.find("resuming from update"), std::string::npos) << strict.err;
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("resuming from update 0 with 0.5 of the learning rate"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("; lines "), std::string::npos) << outcome.err;
}

TEST(TrainCommand, ResumesFromThePreviousCheckpointWhenTheNewestIsDamaged) {
  const ToyTraining toy;
  const std::string whole = run(toy_arguments(toy, "whole")).out;
  const Outcome first = run(toy_arguments(toy, "model"));
  EXPECT_EQ(first.out, whole);
  const std::string path = toy.file("model/training/checkpoint.safetensors");
  fs::resize_file(path, fs::file_size(path) / 2);
  const Outcome refused = run({"--model", toy.file("model"), "--resume"});
  EXPECT_EQ(refused.code, 4);
  expect_one_line(refused.err);
  EXPECT_NE(refused.err.find(path), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--resume-previous takes the checkpoint before it"), std::string::npos)
      << refused.err;
  const Outcome resumed = run({"--model", toy.file("model"), "--resume-previous"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole);
}

// The settings of a small encoder, after the files.
std::vector<std::string> small_encoder(std::vector<std::string> files) {
  return with(
      std::move(files),
      {"--width",    "16",   "--feed-forward",   "24", "--heads",      "2",  "--vocabulary", "20",
       "--subwords", "word", "--batch-tokens",   "96", "--max-length", "32", "--warm-up",    "4",
       "--after",    "6u",   "--validate-every", "3u"});
}

TEST(TrainCommand, InitialisesAClassifierFromAMaskedModelWithItsArchitecture) {
  const train::ToyClasses toy;
  const Outcome masked = run(small_encoder({"--masked", toy.file("train.tsv.txt"), "--valid-masked",
                                            toy.file("valid.tsv.txt"), "--model",
                                            toy.file("masked"), "--encoder-layers", "1"}));
  EXPECT_EQ(masked.code, 0) << masked.err;
  EXPECT_NE(masked.err.find("120 lines to train on"), std::string::npos) << masked.err;
  const Outcome classes =
      run({"--labelled", toy.file("train.tsv"), "--valid-labelled", toy.file("valid.tsv"), "--from",
           toy.file("masked"), "--model", toy.file("model"), "--pooling", "attention",
           "--class-weights", "balanced", "--after", "6u", "--validate-every", "3u"});
  EXPECT_EQ(classes.code, 0) << classes.err;
  EXPECT_NE(classes.err.find("  accuracy "), std::string::npos) << classes.err;
  const train::Recipe recipe = train::saved_run(toy.file("model"))->recipe;
  EXPECT_EQ(recipe.model.model_dim, 16);
  EXPECT_EQ(recipe.model.encoder_layers, 1);
  EXPECT_EQ(recipe.model.pooling, models::Pooling::attention);
  EXPECT_EQ(run({"--model", toy.file("model"), "--resume", "--after", "8u"}).code, 0);
}

TEST(TrainCommand, TrainsOnPairsFromOneFileAsOnTwoFiles) {
  const ToyTraining toy;
  const std::string two_files = run(toy_arguments(toy, "two")).out;
  for (const std::string name : {"train", "valid"}) {
    const auto lines = text::read_parallel_lines(toy.file(name + ".en"), toy.file(name + ".de"));
    std::ofstream pairs(toy.file(name + ".csv"));
    pairs << "de,note,en\n";
    for (std::size_t i = 0; i < lines.source.size(); ++i) {
      pairs << text::csv_field(lines.target[i]) << ",,\"" << lines.source[i] << "\"\n";
    }
  }
  std::vector<std::string> arguments = toy_arguments(toy, "one");
  arguments.erase(arguments.begin(), arguments.begin() + 8);
  const Outcome outcome = run(with(arguments, {"--pairs", toy.file("train.csv"), "--valid-pairs",
                                               toy.file("valid.csv"), "--fields", "en,de"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, two_files);
  EXPECT_NE(outcome.err.find("60 pairs to train on, 12 to validate"), std::string::npos);
}

TEST(TrainCommand, ReadsSeveralFilesInOrderAsOne) {
  const ToyTraining toy;
  const std::string whole = run(toy_arguments(toy, "whole")).out;
  for (const std::string language : {".en", ".de"}) {
    const auto lines = text::read_lines(toy.file("train" + language));
    std::ofstream first(toy.file("first" + language)), second(toy.file("second" + language));
    for (std::size_t i = 0; i < lines.size(); ++i) (i < 20 ? first : second) << lines[i] << '\n';
  }
  std::vector<std::string> arguments = toy_arguments(toy, "parts");
  arguments.erase(arguments.begin(), arguments.begin() + 4);
  const auto parts = with(arguments, {"--source", toy.file("first.en"), "--source",
                                      toy.file("second.en"), "--target", toy.file("first.de")});
  EXPECT_EQ(run(parts).code, 2);  // one target is missing
  const auto all = with(parts, {"--target", toy.file("second.de")});
  EXPECT_EQ(run(all).out, whole);
  const auto saved = train::saved_run(toy.file("parts"));
  EXPECT_EQ(saved->files.paths.at("source").size(), 2u);
  EXPECT_EQ(run({"--model", toy.file("parts"), "--resume", "--after", "18u"}).code, 0);
  const Outcome twice = run(with(all, {"--from", "a", "--from", "b", "--overwrite"}));
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("--from: expected one path, found 2"), std::string::npos) << twice.err;
}

TEST(TrainCommand, ReadsStandardInputAndAsksForItAgain) {
  const ToyTraining toy;
  const std::string from_file = run(toy_arguments(toy, "file")).out;
  const auto piped = replaced(toy_arguments(toy, "piped"), "--source", "-");
  const auto with_input = [&](const std::vector<std::string>& arguments) {
    const io::Descriptor before(::dup(STDIN_FILENO));
    const io::Descriptor input(::open(toy.file("train.en").c_str(), O_RDONLY));
    ::dup2(input.number(), STDIN_FILENO);
    const Outcome outcome = run(arguments);
    ::dup2(before.number(), STDIN_FILENO);
    return outcome;
  };
  const Outcome outcome = with_input(piped);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, from_file);
  const Outcome without = run({"--model", toy.file("piped"), "--resume", "--after", "18u"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("--source: this run read standard input"), std::string::npos)
      << without.err;
  EXPECT_EQ(
      with_input({"--model", toy.file("piped"), "--resume", "--after", "18u", "--source", "-"})
          .code,
      0);
  const Outcome both = with_input(replaced(piped, "--target", "-"));
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("expected standard input (-) for one file"), std::string::npos);
}

TEST(TrainCommand, UnderstandsTheHeaderOfLabelledLinesOrIsToldIt) {
  const train::ToyClasses toy;
  const std::vector<std::string> rest =
      small_encoder({"--model", toy.file("plain"), "--encoder-layers", "1"});
  const Outcome plain = run(with(rest, {"--labelled", toy.file("train.tsv")}));
  ASSERT_EQ(plain.code, 0) << plain.err;
  const auto lines = text::read_lines(toy.file("train.tsv"));
  const auto write = [&](const std::string& name, const std::string& header) {
    std::ofstream file(toy.file(name));
    if (!header.empty()) file << header << '\n';
    for (const std::string& line : lines) {
      const std::size_t tab = line.find('\t');
      file << line.substr(tab + 1) << '\t' << line.substr(0, tab) << '\n';
    }
    return toy.file(name);
  };
  const std::string known = write("known.tsv", "text\tcategory");
  const std::string odd = write("odd.tsv", "what\twhich");
  const std::string bare = write("bare.tsv", "");
  const auto weights = [&](const std::string& path, std::initializer_list<std::string> more) {
    const Outcome outcome = run(with(with(rest, {"--labelled", path, "--overwrite"}), more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(weights(known, {}), plain.out);
  EXPECT_EQ(weights(odd, {"--fields", "which,what"}), plain.out);
  EXPECT_EQ(weights(bare, {"--fields", "2,1", "--no-header"}), plain.out);
  EXPECT_NE(plain.err.find("columns: column 1 is the label, column 2 the text (no header)\n"),
            std::string::npos)
      << plain.err;
  EXPECT_NE(plain.err.find("3 classes: "), std::string::npos) << plain.err;
}

TEST(TrainCommand, AModelOfTruncatedSourcesReadsNoMoreOfAnyText) {
  const ToyTraining toy;
  const Outcome outcome = run(
      with(replaced(toy_arguments(toy, "model"), "--max-length", "7"), {"--truncate-source", "3"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("truncated: "), std::string::npos) << outcome.err;
  const auto translator = infer::Translator::load(toy.file("model"));
  const auto score = [&](const std::string& line) {
    return translator.translate(std::span(&line, 1)).front().best.front().score;
  };
  EXPECT_EQ(score("red green grey blue"), score("red green"));
  EXPECT_NE(score("red green"), score("red"));
}

TEST(TrainCommand, LearnsTheAnswersToPrompts) {
  const ToyTraining toy;
  std::ofstream(toy.file("questions.csv")) << "instruction,reply\nred?,green\nblue?,black\n";
  const Outcome outcome =
      run({"--prompts", toy.file("questions.csv"), "--fields", "instruction,reply", "--preset",
           "prompts", "--width", "16", "--heads", "2", "--decoder-layers", "1", "--max-updates",
           "2", "--model", toy.file("model")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("'instruction' is the prompt, 'reply' the answer (header)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(models::load_config(toy.file("model")).kind, models::ModelKind::language);
}

TEST(TrainCommand, RefusesPairsThatAreNotThereAndFieldsThatAreNone) {
  const ToyTraining toy;
  for (const std::string option : {"--fields=a,b", "--no-header"}) {
    const Outcome outcome = run(with(toy_arguments(toy, "model"), {option}));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("expected --pairs, --labelled or --prompts, found none"),
              std::string::npos);
  }
  const std::string file = toy.file("pairs.csv");
  std::ofstream(file) << "en,de\nred,rot\n";
  const Outcome missing = run({"--pairs", file, "--fields", "en,fr", "--model", toy.file("model")});
  EXPECT_EQ(missing.code, 3);
  expect_one_line(missing.err);
  EXPECT_NE(missing.err.find(file + ":1: expected a column 'fr', found en, de"), std::string::npos)
      << missing.err;
  EXPECT_EQ(run({"--pairs", file, "--fields", "en", "--model", toy.file("model")}).code, 2);
  EXPECT_EQ(run({"--pairs", file, "--source", file, "--model", toy.file("model")}).code, 2);
}

TEST(TrainCommand, TrainsOnImages) {
  const train::ToyImages toy;
  const std::vector<std::string> arguments{
      "--images",       toy.images(), "--model",        toy.file("model"),
      "--image-height", "8",          "--width",        "16",
      "--feed-forward", "24",         "--image-width",  "8",
      "--after",        "6u",         "--batch-tokens", "64",
      "--patch-side",   "4"};
  const Outcome outcome = run(with(arguments, {"--valid-images", toy.images()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("60 images to train on, 16 to validate"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(run({"--model", toy.file("model"), "--resume", "--after", "8u"}).code, 0);
  EXPECT_EQ(run(replaced(arguments, "--images", toy.file("nowhere"))).code, 3);
}

TEST(TrainCommand, TrainsATaggerOfWords) {
  const train::ToyTags toy;
  const std::string size[]{"--width", "16", "--feed-forward", "24", "--heads", "2"};
  std::vector<std::string> arguments{"--tagged",         toy.file("train.conll"),
                                     "--valid-tagged",   toy.file("valid.conll"),
                                     "--preset",         "auto",
                                     "--model",          toy.file("model"),
                                     "--epochs",         "8",
                                     "--batch-tokens",   "96",
                                     "--max-length",     "32",
                                     "--early-stopping", "f1"};
  arguments.insert(arguments.end(), std::begin(size), std::end(size));
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("4 classes: O "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("120 sentences to train on, 24 to validate"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("  F1 "), std::string::npos) << outcome.err;

  std::istringstream in("red of\n");
  std::ostringstream tags;
  classify({.model = toy.file("model")}, in, tags);
  EXPECT_EQ(std::ranges::count(tags.str(), ' '), 1) << tags.str();
  std::ostringstream scores;
  evaluate({.tagged = toy.file("valid.conll"), .model = toy.file("model")}, in, scores);
  EXPECT_TRUE(scores.str().starts_with("accuracy ")) << scores.str();
}

TEST(TrainCommand, RefusesLabelledLinesWithAMistakeByExitCode) {
  const train::ToyClasses toy;
  const std::string file = toy.file("bad.tsv");
  std::ofstream(file) << "warm\tred\ncold\t\n";
  for (const char* option : {"--labelled", "--labeled"}) {
    const Outcome outcome = run({option, file, "--model", toy.file("model")});
    EXPECT_EQ(outcome.code, 3);
    expect_one_line(outcome.err);
    EXPECT_NE(outcome.err.find(file + ":2: "), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run({"--labelled", toy.file("train.tsv"), "--from", toy.file("none"), "--model",
                 toy.file("model")})
                .code,
            4);
}

// --- Tuning ---

TEST(TrainCommand, FindsARateWithoutAFolder) {
  const ToyTraining toy;
  const auto arguments = with(without(toy_arguments(toy, "m"), "--model"), {"--find-rate"});
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("learning rate      loss\n     1.00e-06")) << outcome.out;
  EXPECT_NE(outcome.out.find("\nsuggestion: --learning-rate 0.0"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(run(with(arguments, {"--threads", "1"})).out, outcome.out);
  EXPECT_EQ(run(without(toy_arguments(toy, "m"), "--model")).err,
            "heed: --model is required (see heed train --help)\n");
}

TEST(TrainCommand, FindingARateLeavesARunInTheFolderAsItIs) {
  const ToyTraining toy;
  const std::string finished = run(toy_arguments(toy, "m")).out;
  const auto other = replaced(toy_arguments(toy, "m"), "--heads", "4");
  const Outcome outcome = run(with(other, {"--find-rate", "--learning-rate", "3", "--json"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: --learning-rate is not used"), std::string::npos);
  EXPECT_NE(outcome.err.find("warning: --warm-up is not used"), std::string::npos);
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
  const auto object = nlohmann::json::parse(outcome.out);
  EXPECT_GT(object["suggestion"].get<double>(), 0);
  EXPECT_EQ(object["points"][0]["rate"], 1e-6);
  EXPECT_EQ(run(toy_arguments(toy, "m")).out, finished);
}

TEST(TrainCommand, ASweepTrainsEveryCombinationAndComparesThem) {
  const ToyTraining toy;
  const auto arguments = with(toy_arguments(toy, "m"), {"--try", "lr=0.0001,0.02"});
  const Outcome table = run(with(arguments, {"--try", "dropout=0"}));
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("   learning-rate  dropout    loss  ")) << table.out;
  EXPECT_NE(table.out.find("\n*           0.02        0  "), std::string::npos) << table.out;
  const std::string best = toy.file("m/learning-rate=0.02,dropout=0");
  EXPECT_TRUE(table.out.ends_with("best by loss: " + best + "\n")) << table.out;
  EXPECT_NE(table.err.find("run 2 of 2: learning-rate=0.02, dropout=0\n"), std::string::npos)
      << table.err;
  const std::size_t data = table.err.find("tokens of a source:");  // shown for the first run only
  EXPECT_NE(data, std::string::npos) << table.err;
  EXPECT_EQ(data, table.err.rfind("tokens of a source:")) << table.err;
  EXPECT_TRUE(fs::exists(best + "/model.safetensors"));

  const Outcome again = run(with(arguments, {"--try", "dropout=0", "--quiet"}));
  EXPECT_EQ(again.out, table.out);
  EXPECT_EQ(again.err, "");
}

TEST(TrainCommand, ASweepAsJsonIsAnObjectForEachRun) {
  const ToyTraining toy;
  const Outcome outcome = run(
      with(toy_arguments(toy, "m"), {"--try", "learning-rate=1000000,0.02", "--strict", "--json"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<nlohmann::json> runs;
  for (std::string line; std::getline(lines, line);) runs.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0]["diverged"], true);
  EXPECT_FALSE(runs[0].contains("loss"));
  EXPECT_EQ(runs[1]["best"], true);
  EXPECT_EQ(runs[1]["settings"]["learning-rate"], "0.02");
  EXPECT_EQ(runs[1]["updates"], 16);
  EXPECT_TRUE(runs[1]["bleu"].is_number());
}

TEST(TrainCommand, ASweepInWhichEveryRunDivergesFailsLikeOneRun) {
  const ToyTraining toy;
  const Outcome outcome =
      run(with(toy_arguments(toy, "m"), {"--try", "learning-rate=1000000", "--strict", "--quiet"}));
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.out.find("diverged"), std::string::npos) << outcome.out;
}

TEST(TrainCommand, TuningOptionsThatCannotBeUsedAreRefused) {
  const ToyTraining toy;
  const auto good = toy_arguments(toy, "m");
  const auto error_of = [&](std::initializer_list<std::string> more) {
    const Outcome outcome = run(with(good, more));
    EXPECT_EQ(outcome.code, 2);
    expect_one_line(outcome.err);
    return outcome.err;
  };
  EXPECT_EQ(error_of({"--try", "learning-rat=1"}),
            "heed: --try: unknown setting learning-rat; did you mean learning-rate?\n");
  EXPECT_EQ(error_of({"--try", "dropout"}),
            "heed: --try: expected a setting and its values, like learning-rate=0.001,0.003, "
            "found dropout\n");
  EXPECT_EQ(error_of({"--try", "keep=1,2"}),
            "heed: --try: expected a setting that changes what a run learns, found keep\n");
  EXPECT_EQ(error_of({"--try", "dropout=none"}),
            "heed: --dropout: expected a number from 0 to 0.99, found none\n");
  EXPECT_EQ(error_of({"--json"}), "heed: --json: expected --find-rate or --try too\n");
  EXPECT_EQ(error_of({"--find-rate", "--try", "dropout=0,0.1"}),
            "heed: --find-rate: cannot be combined with --try (see heed train --help)\n");
  EXPECT_EQ(error_of({"--try", "heads=1,2"}),
            "heed: --heads: cannot be combined with --try heads\n");
  error_of({"--find-rate", "--resume"});
  error_of({"--find-rate", "--overwrite"});
  error_of({"--try", "dropout=0,0.1", "--resume"});
  EXPECT_FALSE(fs::exists(toy.file("m")));
}

// --- The program itself, as a process ---

pid_t start_program(const std::vector<std::string>& arguments, const std::string& out,
                    const std::string& err = "/dev/null") {
  std::vector<const char*> argv{program_path, "train"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int log = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(program_path, const_cast<char* const*>(argv.data()));
  ::_exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Returns once the run has done some updates.
void wait_for_updates(const std::string& model) {
  const std::string log = model + "/training/metrics.jsonl";
  for (int i = 0; i < 2000; ++i) {
    if (io::is_file(log) && std::ranges::count(io::read_file(log), '\n') >= 5) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "no updates in " << log;
}

TEST(TrainProgram, StoppedByASignalTheSameCommandAgainGivesTheSameWeights) {
  const ToyTraining toy;
  // Wide enough that the run has not ended when the signal arrives.
  const auto arguments = [&](const std::string& model) {
    const auto wide = replaced(toy_arguments(toy, model), "--width", "64");
    return with(replaced(wide, "--after", "150u"),
                {"--save-every", "4u", "--validate-every", "75u"});
  };
  ASSERT_EQ(wait_for(start_program(arguments("whole"), toy.file("whole.out"))), 0);

  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const std::string model = "model-" + std::to_string(signal);
    const pid_t child = start_program(arguments(model), toy.file("stopped.out"));
    wait_for_updates(toy.file(model));
    ::kill(child, signal);
    ASSERT_EQ(wait_for(child), signal == SIGKILL ? -SIGKILL : 128 + signal);
    EXPECT_EQ(io::read_file(toy.file("stopped.out")), "");
    ASSERT_EQ(wait_for(start_program(arguments(model), toy.file("resumed.out"))), 0);
    EXPECT_EQ(io::read_file(toy.file("resumed.out")), io::read_file(toy.file("whole.out")));
  }
}

// Returns once the run has locked its folder, which is before it reads anything.
void wait_for_lock(const std::string& model) {
  for (int i = 0; i < 2000; ++i) {
    if (train::is_training_in(train::TrainingFolder(model))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "no lock in " << model;
}

// Text from which a tokenizer is not learned in an instant.
void write_many_words(const std::string& path) {
  std::ofstream lines(path);
  Rng rng(3);
  for (int line = 0; line < 100'000; ++line) {
    for (int word = 0; word < 8; ++word) lines << std::hex << rng.below(1u << 30) << ' ';
    lines << '\n';
  }
}

std::vector<std::string> long_preparation(const ToyTraining& toy, const std::string& model) {
  write_many_words(toy.file("many"));
  return {"--masked", toy.file("many"), "--model", toy.file(model), "--vocabulary", "8000"};
}

TEST(TrainProgram, StoppedByASignalWhileItPreparesItSaysThatNothingWasWritten) {
  const ToyTraining toy;
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child =
        start_program(long_preparation(toy, "new/model"), toy.file("out"), toy.file("err"));
    wait_for_lock(toy.file("new/model"));
    ::kill(child, signal);
    EXPECT_EQ(wait_for(child), 128 + signal);
    EXPECT_EQ(io::read_file(toy.file("err")),
              "interrupted before its first update; nothing was written\n");
    EXPECT_FALSE(fs::exists(toy.file("new")));
  }
}

// Returns once the log of a process holds the text.
void wait_for_text(const std::string& path, const std::string& text) {
  for (int i = 0; i < 2000; ++i) {
    if (io::is_file(path) && io::read_file(path).find(text) != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "no " << text << " in " << path;
}

TEST(TrainProgram, ARangeTestStopsAtASignalAndPrintsNothing) {
  const ToyTraining toy;
  auto wide = replaced(toy_arguments(toy, "m"), "--width", "256");
  wide = with(replaced(wide, "--feed-forward", "1024"), {"--accumulate", "6", "--find-rate"});
  const pid_t child = start_program(wide, toy.file("out"), toy.file("err"));
  wait_for_text(toy.file("err"), "to train on");
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 128 + SIGINT);
  EXPECT_EQ(io::read_file(toy.file("out")), "");
  EXPECT_TRUE(io::read_file(toy.file("err")).ends_with("interrupted; nothing was written\n"));
  EXPECT_FALSE(fs::exists(toy.file("m")));
}

TEST(TrainProgram, ASweepThatIsStoppedResumesWithTheSameCommand) {
  const ToyTraining toy;
  const auto arguments = [&](const std::string& model) {
    const auto wide = replaced(toy_arguments(toy, model), "--width", "64");
    return with(replaced(wide, "--after", "150u"), {"--try", "dropout=0,0.1", "--json"});
  };
  const auto weights = [&](const std::string& file) {
    std::vector<std::string> hashes;
    std::istringstream lines(io::read_file(toy.file(file)));
    for (std::string line; std::getline(lines, line);) {
      hashes.push_back(nlohmann::json::parse(line)["weights"]);
    }
    return hashes;
  };
  ASSERT_EQ(wait_for(start_program(arguments("whole"), toy.file("whole.out"))), 0);
  const pid_t child = start_program(arguments("m"), toy.file("out"), toy.file("err"));
  wait_for_updates(toy.file("m/dropout=0.1"));
  ::kill(child, SIGTERM);
  ASSERT_EQ(wait_for(child), 128 + SIGTERM);
  EXPECT_EQ(io::read_file(toy.file("out")), "");
  EXPECT_TRUE(io::read_file(toy.file("err"))
                  .ends_with("interrupted in run 2 of 2; the same command again resumes the "
                             "sweep\n"));
  ASSERT_EQ(wait_for(start_program(arguments("m"), toy.file("resumed.out"))), 0);
  EXPECT_EQ(weights("resumed.out"), weights("whole.out"));
}

TEST(TrainProgram, ASecondRunInTheFolderIsRefusedWhileTheFirstOnePrepares) {
  const ToyTraining toy;
  const pid_t child = start_program(long_preparation(toy, "model"), toy.file("out"));
  wait_for_lock(toy.file("model"));
  const Outcome second = run(toy_arguments(toy, "model"));
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.err,
            "heed: " + toy.file("model") + ": another process is training in this folder\n");
  EXPECT_TRUE(fs::exists(toy.file("model/training/checkpoints")));
  ::kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 128 + SIGTERM);
}

}  // namespace
}  // namespace heed::cli
