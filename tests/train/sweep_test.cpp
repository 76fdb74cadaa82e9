#include "heed/train/sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/io/files.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_folder.h"
#include "support/expect_error.h"
#include "train/toy_classes.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

using Axes = std::vector<SweepAxis>;

const Axes rates_and_dropouts{{"learning-rate", {"0.001", "0.02"}}, {"dropout", {"0", "0.3"}}};

SweepOutcome sweep(const std::vector<SweepRun>& runs) {
  return run_sweep(runs, [](std::size_t) { return std::make_unique<TrainingObserver>(); });
}

TEST(PlanSweep, MakesARunOfEveryCombinationInAFolderOfItsOwn) {
  const ToyTraining toy;
  const std::vector<SweepRun> runs = plan_sweep(toy.training("m"), rates_and_dropouts);
  std::vector<std::string> folders;
  for (const SweepRun& run : runs) folders.push_back(run.training.model_folder);
  EXPECT_EQ(folders, (std::vector<std::string>{toy.file("m/learning-rate=0.001,dropout=0"),
                                               toy.file("m/learning-rate=0.001,dropout=0.3"),
                                               toy.file("m/learning-rate=0.02,dropout=0"),
                                               toy.file("m/learning-rate=0.02,dropout=0.3")}));
  EXPECT_EQ(runs[1].training.recipe.training.schedule.peak, 0.001);
  EXPECT_EQ(runs[1].training.recipe.model.dropout, 0.3f);
  EXPECT_EQ(runs[2].training.recipe.training.after, updates(16));
  EXPECT_FALSE(fs::exists(toy.file("m")));
}

TEST(PlanSweep, KnowsTheOtherNamesOfASettingAndTheOtherWaysToWriteANumber) {
  const ToyTraining toy;
  const std::vector<SweepRun> runs =
      plan_sweep(toy.training("m"), Axes{{"lr", {"1e-3"}}, {"seed", {"7"}}});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].training.model_folder, toy.file("m/learning-rate=0.001,seed=7"));
}

TEST(PlanSweep, GivesARecipeThatIsChosenForTheDataItsSettingsToo) {
  const ToyTraining toy;
  Training training = toy.training("m");
  training.automatic = Settings{{"width", "16"}};
  const std::vector<SweepRun> runs = plan_sweep(training, Axes{{"dropout", {"0.2"}}});
  EXPECT_EQ(*runs[0].training.automatic, (Settings{{"width", "16"}, {"dropout", "0.2"}}));
}

TEST(PlanSweep, RefusesWhatCannotBeTrainedOrCompared) {
  const ToyTraining toy;
  const auto refuses = [&](
                           const std::string& message, const Axes& axes,
                           void (*change)(Training&) = [](Training&) {}) {
    Training training = toy.training("m");
    change(training);
    expect_error(ErrorKind::usage, message, [&] { plan_sweep(training, axes); });
  };
  const Axes rates{{"learning-rate", {"0.1", "0.2"}}};
  refuses("`try`: expected a setting, found none", {});
  refuses("`try`: expected a setting, found rates", {{"rates", {"1"}}});
  refuses("`try`: expected values of dropout, found none", {{"dropout", {}}});
  refuses("`dropout`: expected a number from 0 to 0.99, found 2", {{"dropout", {"0", "2"}}});
  refuses("`heads`: expected a whole number of at least 1, found two", {{"heads", {"two"}}});
  refuses("`try`: expected other values of dropout each time, found 0.10 again",
          {{"dropout", {"0.1", "0.10"}}});
  refuses("`try`: expected learning-rate once, found it again",
          {{"learning-rate", {"0.1"}}, {"lr", {"0.2"}}});
  refuses("`try`: expected a setting that changes what a run learns, found validate-every",
          {{"validate-every", {"1e", "2e"}}});
  refuses("`try`: expected a setting that changes what a run learns, found problem-type",
          {{"problem", {"regression"}}});
  refuses("`try`: expected values of freeze that can name a folder, found a/b",
          {{"freeze", {"a/b"}}});
  refuses(
      "`try`: losses per token cannot be compared between vocabularies; expected "
      "`early_stopping` by a score, like bleu, found loss",
      {{"vocabulary", {"12", "20"}}});
  refuses(
      "`try`: expected at most 100 combinations, found more",
      {{"dropout", {"0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95"}},
       {"seed", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}}});
  refuses("`try`: expected validation data, by which the runs are compared, found none", rates,
          [](Training& training) {
            training.files.erase("valid-source");
            training.files.erase("valid-target");
          });
  refuses("`source`: expected a file, which every run of a sweep reads, found standard input",
          rates, [](Training& training) { training.files["source"] = "-"; });
  refuses("`model`: expected a folder for the runs of a sweep, found an empty name", rates,
          [](Training& training) { training.model_folder.clear(); });
}

TEST(PlanSweep, RefusesSettingsThatDoNotGoTogetherBeforeAnythingIsTrained) {
  const ToyTraining toy;
  EXPECT_THROW(plan_sweep(toy.training("m"), Axes{{"heads", {"2", "3"}}}), Error);
}

TEST(PlanSweep, RefusesAFolderThatHoldsARunItself) {
  const ToyTraining toy;
  const Training training = toy.training("m");
  train_model(training);
  expect_error(
      ErrorKind::usage,
      toy.file("m") + ": expected a folder for the runs of a sweep, found a run or a model",
      [&] { plan_sweep(training, rates_and_dropouts); });
}

TEST(PlanSweep, ComparesVocabulariesByAScoreOrByTheLossOfLabels) {
  const ToyTraining toy;
  Training training = toy.training("m");
  training.recipe.training.early_stopping = "bleu";
  EXPECT_EQ(plan_sweep(training, Axes{{"vocabulary", {"12", "20"}}}).size(), 2u);
  const ToyClasses classes;
  EXPECT_EQ(plan_sweep(classes.classes("m"), Axes{{"vocabulary", {"12", "20"}}}).size(), 2u);
}

TEST(RunSweep, TrainsEveryRunAsIfItWereAlone) {
  const ToyTraining toy;
  const std::vector<SweepRun> runs = plan_sweep(toy.training("m"), rates_and_dropouts);
  const SweepOutcome outcome = sweep(runs);
  ASSERT_EQ(outcome.results.size(), 4u);
  Training alone = toy.training("alone");
  alone.recipe.training.schedule.peak = 0.02;
  alone.recipe.model.dropout = 0.3f;
  EXPECT_EQ(outcome.results[3].weights_hash, train_model(alone).weights_hash);
  EXPECT_EQ(outcome.results[3].log.updates, 16);
  EXPECT_TRUE(outcome.results[3].log.validation->score("bleu"));
}

TEST(RunSweep, TheBestHasTheLowestLossOrTheHighestScore) {
  const ToyClasses toy;
  Training training = toy.classes("m");
  const Axes axes{{"learning-rate", {"0.00001", "0.02", "0.0001"}}};
  EXPECT_EQ(sweep_measure(training.recipe), "loss");
  const SweepOutcome by_loss = sweep(plan_sweep(training, axes));
  EXPECT_EQ(by_loss.best, 1u);
  for (const SweepResult& result : by_loss.results) {
    EXPECT_GE(result.log.validation->loss, by_loss.results[1].log.validation->loss);
  }
  training.model_folder = toy.file("by-score");
  training.recipe.training.early_stopping = "macro-f1";
  EXPECT_EQ(sweep_measure(training.recipe), "macro-f1");
  EXPECT_EQ(sweep(plan_sweep(training, axes)).best, 1u);
}

TEST(RunSweep, TheSameSweepAgainLeavesWhatIsFinishedAndResumesWhatIsNot) {
  const ToyTraining toy;
  Training training = toy.training("whole");
  const SweepOutcome whole = sweep(plan_sweep(training, rates_and_dropouts));

  training.model_folder = toy.file("m");
  const std::vector<SweepRun> runs = plan_sweep(training, rates_and_dropouts);
  const SweepOutcome stopped = run_sweep(runs, [](std::size_t number) {
    auto watcher = std::make_unique<Watcher>();
    if (number == 1) watcher->stop_after = 5;
    return watcher;
  });
  ASSERT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.interrupted->update, 5);
  EXPECT_EQ(stopped.results.size(), 1u);
  EXPECT_FALSE(stopped.best);
  EXPECT_FALSE(fs::exists(runs[2].training.model_folder));

  const std::string finished = TrainingFolder(runs[0].training.model_folder).checkpoint();
  const std::string before = io::read_file(finished);
  const SweepOutcome resumed = sweep(runs);
  ASSERT_EQ(resumed.results.size(), 4u);
  EXPECT_EQ(resumed.best, whole.best);
  EXPECT_EQ(io::read_file(finished), before);  // its times too
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(resumed.results[i].weights_hash, whole.results[i].weights_hash);
    EXPECT_EQ(resumed.results[i].log.validation->loss, whole.results[i].log.validation->loss);
  }
}

TEST(RunSweep, ARunThatDivergesIsNeverTheBestAndDoesNotEndTheSweep) {
  const ToyTraining toy;
  Training training = toy.training("m");
  training.recipe.training.strict = true;
  const SweepOutcome outcome =
      sweep(plan_sweep(training, Axes{{"learning-rate", {"1000000", "0.02"}}}));
  ASSERT_EQ(outcome.results.size(), 2u);
  EXPECT_NE(outcome.results[0].problem.find("diverged"), std::string::npos);
  EXPECT_EQ(outcome.results[1].problem, "");
  EXPECT_EQ(outcome.best, 1u);
}

TEST(RunSweep, OtherErrorsEndTheSweep) {
  const ToyTraining toy;
  std::ofstream(toy.file("valid.de")) << "one line\n";
  EXPECT_THROW(sweep(plan_sweep(toy.training("m"), rates_and_dropouts)), Error);
}

TEST(RunSweep, NamesTheSettingsThatARecipeChosenForTheDataFittedToAnAxis) {
  const ToyTraining toy;
  Training training = toy.training("m");
  training.recipe = recipe_preset("tiny");
  training.automatic =
      Settings{{"encoder-layers", "1"}, {"decoder-layers", "1"}, {"feed-forward", "24"},
               {"subwords", "word"},    {"vocabulary", "20"},    {"after", "2u"}};
  customize(training.recipe, *training.automatic);
  EXPECT_TRUE(sweep(plan_sweep(training, Axes{{"dropout", {"0", "0.1"}}})).also_different.empty());
  training.model_folder = toy.file("widths");
  const SweepOutcome outcome = sweep(plan_sweep(training, Axes{{"width", {"32", "36"}}}));
  EXPECT_EQ(outcome.also_different, std::vector<std::string>{"heads"});
}

}  // namespace
}  // namespace heed::train
