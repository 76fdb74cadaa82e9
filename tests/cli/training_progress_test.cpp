#include "heed/cli/training_progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace heed::cli {
namespace {

train::UpdateReport update(Index number, double seconds) {
  train::UpdateReport report;
  report.update = number;
  report.loss = 4.3125;
  report.learning_rate = 0.00155;
  report.target_tokens = 3000;
  report.seconds = seconds;
  report.share_done = std::min(1.0, static_cast<double>(number) / 100);
  return report;
}

std::string shown(const ProgressOptions& options) {
  std::ostringstream log;
  TrainingProgress progress(log, options);
  progress.on_update(update(1, 1));
  progress.on_update(update(50, 2));
  return log.str();
}

TEST(TrainingProgress, WritesLinesWithSpeedAndTimeLeft) {
  EXPECT_EQ(shown({.seconds_between_lines = 0}),
            "epoch 1 update 1  loss 4.312  0 tokens/s  rate 0.00155  \n"
            "epoch 1 update 50  loss 4.312  3000 tokens/s  rate 0.00155  0:01 left\n");
}

TEST(TrainingProgress, CountsTheTokensOfTheLargerSide) {
  std::ostringstream log;
  TrainingProgress progress(log, {.seconds_between_lines = 0});
  train::UpdateReport report = update(1, 1);
  progress.on_update(report);
  report.seconds = 2;
  report.target_tokens = 40;
  report.source_tokens = 500;
  progress.on_update(report);
  EXPECT_NE(log.str().find("  500 tokens/s"), std::string::npos) << log.str();
}

TEST(TrainingProgress, TellsAccuracyInPlaceOfPerplexity) {
  std::ostringstream log;
  TrainingProgress progress(log, {});
  train::ValidationReport report;
  report.update = 7;
  report.loss = 0.5;
  report.perplexity = 1.65;
  progress.on_validation(report);
  report.scores = {{"accuracy", 0.875}, {"macro_f1", 0.85}};
  progress.on_validation(report);
  EXPECT_EQ(log.str(),
            "validation  update 7  loss 0.500  perplexity 1.65  0:00\n"
            "validation  update 7  loss 0.500  accuracy 0.8750  macro-F1 0.8500  0:00\n");
}

TEST(TrainingProgress, TellsTheScoresOfTextInPercent) {
  std::ostringstream log;
  TrainingProgress progress(log, {});
  train::ValidationReport report;
  report.perplexity = 1.65;
  report.scores = {{"exact_match", 62.5}, {"bleu", 0}};
  progress.on_validation(report);
  EXPECT_EQ(
      log.str(),
      "validation  update 0  loss 0.000  perplexity 1.65  exact match 62.50  BLEU 0.00  0:00\n");
}

TEST(TrainingProgress, WritesNothingBeforeItsTime) {
  EXPECT_EQ(shown({.seconds_between_lines = 1000}), "");
}

TEST(TrainingProgress, OnATerminalALineNeverWraps) {
  std::ostringstream log;
  TrainingProgress progress(log, {.is_terminal = true});
  progress.on_update(update(1, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(250));  // a bar is not drawn more often
  progress.on_update(update(123456789012345, 2e9));
  const std::string text = log.str();
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.front(), '\r');
  EXPECT_EQ(text.size(), 1 + 79 + std::string("\x1b[K").size());
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(TrainingProgress, QuietStillTellsWhatIsLeftOut) {
  std::ostringstream log;
  TrainingProgress progress(log, {.quiet = true});
  train::RunStart start;
  start.data.examples = "pairs";
  start.data.num_examples = 10;
  progress.on_start(start);
  EXPECT_EQ(log.str(), "");
  start.data.num_blank = 2;
  start.data.num_too_long = 3;
  progress.on_start(start);
  EXPECT_EQ(log.str(),
            "left out: 2 blank pairs, 3 that are too long (33.3 %); 0 of those to validate\n");
}

TEST(TrainingProgress, SaysWhichLengthWouldKeepWhatIsTooLong) {
  std::ostringstream log;
  TrainingProgress progress(log, {.quiet = true});
  train::RunStart start;
  start.data.examples = "lines";
  start.data.num_examples = 100;
  start.data.num_too_long = 200;
  start.data.max_length_for_99 = 614;
  progress.on_start(start);
  EXPECT_EQ(log.str(),
            "left out: 0 blank lines, 200 that are too long (66.7 %); --max-length 614 would keep "
            "99 %; 0 of those to validate\n");
}

TEST(TrainingProgress, ShowsTheDataAsItWasUnderstood) {
  std::ostringstream log;
  TrainingProgress progress(log, {});
  train::RunStart start;
  start.data.examples = "lines";
  start.data.num_examples = 40;
  start.data.columns = {"column 1 is the label, column 2 the text (no header)"};
  start.data.samples = {{"hello\tthere", "greeting"}, {"a line alone", ""}};
  start.data.classes = {{"greeting", 20}, {"bye", 10}, {"card", 8}, {"so", 2}, {"last", 1}};
  start.data.lengths = {{"text", 7, 12, 40}};
  start.data.num_truncated = 3;
  start.data.warnings = {"is it column 2? `fields` 2,1, `max_length`"};
  progress.on_start(start);
  EXPECT_TRUE(
      log.str().starts_with("columns: column 1 is the label, column 2 the text (no header)\n"
                            "  hello\\tthere -> greeting\n"
                            "  a line alone\n"
                            "5 classes: greeting 20, bye 10, card 8 ... last 1\n"
                            "tokens of a text: median 7, 95 % up to 12, longest 40\n"
                            "truncated: 3 of 40 lines\n"
                            "warning: is it column 2? --fields 2,1, --max-length\n"
                            "40 lines to train on, "))
      << log.str();
  log.str("");
  start.update = 7;  // a run that is resumed was shown its data before
  progress.on_start(start);
  EXPECT_TRUE(log.str().starts_with("warning: ")) << log.str();
}

TEST(TrainingProgress, StartsWithTheSizesAndWithPiecesWhereThereAreAny) {
  std::ostringstream log;
  TrainingProgress progress(log, {});
  train::RunStart start;
  start.data.examples = "images";
  start.data.num_examples = 60;
  start.data.num_valid_examples = 16;
  start.num_parameters = 500;
  progress.on_start(start);
  start.data.vocabulary = 20;
  progress.on_start(start);
  EXPECT_EQ(log.str(),
            "60 images to train on, 16 to validate; 500 parameters\n"
            "60 images to train on, 16 to validate; 20 pieces, 500 parameters\n");
}

TEST(TrainingProgress, TellsOfSkippedUpdates) {
  std::ostringstream log;
  TrainingProgress progress(log, {.quiet = true});
  train::UpdateReport report = update(7, 1);
  report.is_applied = false;
  report.problem = "loss nan; lines 12, 845";
  progress.on_update(report);
  EXPECT_EQ(log.str(), "update 7 skipped: loss nan; lines 12, 845\n");
}

TEST(TrainingProgress, TellsOfRollbacksAndWarningsEvenIfQuiet) {
  std::ostringstream log;
  TrainingProgress progress(log, {.quiet = true});
  progress.on_rollback({"training diverged", 13, 8, 0.25});
  progress.on_warning("the disk is full");
  EXPECT_EQ(log.str(),
            "warning: training diverged; resuming from update 8 with 0.25 of the learning rate\n"
            "warning: the disk is full\n");
}

}  // namespace
}  // namespace heed::cli
