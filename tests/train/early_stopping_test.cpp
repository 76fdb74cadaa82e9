#include "heed/train/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/expect_error.h"

namespace heed::train {
namespace {

ValidationReport with_loss(double loss) {
  ValidationReport report;
  report.loss = loss;
  return report;
}

ValidationReport with_bleu(double loss, double bleu) {
  ValidationReport report = with_loss(loss);
  report.scores = {{"exact_match", 100 - bleu}, {"bleu", bleu}};
  return report;
}

TEST(EarlyStopping, StopsAfterPatienceValidationsWithoutALowerLoss) {
  EarlyStopping stopping("loss", 2);
  EXPECT_TRUE(stopping.observe(with_loss(3.0)));
  EXPECT_FALSE(stopping.observe(with_loss(3.0)));
  EXPECT_TRUE(stopping.observe(with_loss(2.9)));
  EXPECT_FALSE(stopping.observe(with_loss(2.95)));
  EXPECT_FALSE(stopping.is_exhausted());
  EXPECT_FALSE(stopping.observe(with_loss(2.91)));
  EXPECT_TRUE(stopping.is_exhausted());
}

TEST(EarlyStopping, HigherBleuIsBetter) {
  EarlyStopping stopping("bleu", 1);
  EXPECT_TRUE(stopping.observe(with_bleu(3.0, 10.0)));
  EXPECT_TRUE(stopping.observe(with_bleu(4.0, 11.0)));
  EXPECT_FALSE(stopping.observe(with_bleu(1.0, 10.5)));
  EXPECT_TRUE(stopping.is_exhausted());
}

TEST(EarlyStopping, ALowerErrorIsBetter) {
  EarlyStopping stopping("mse", 1);
  ValidationReport report;
  report.scores = {{"pearson", 0.5}, {"mse", 2}};
  EXPECT_TRUE(stopping.observe(report));
  report.scores = {{"pearson", 0.6}, {"mse", 3}};
  EXPECT_FALSE(stopping.observe(report));
  EXPECT_TRUE(stopping.is_exhausted());
}

TEST(EarlyStopping, FindsAScoreByItsNameWithDashes) {
  EarlyStopping stopping("exact-match", 1);
  EXPECT_TRUE(stopping.observe(with_bleu(3.0, 20)));
  EXPECT_TRUE(stopping.observe(with_bleu(3.0, 10)));
  EXPECT_EQ(stopping.state.best, 90);
}

TEST(EarlyStopping, RefusesAScoreThatTheTaskDoesNotReport) {
  EarlyStopping stopping("accuracy", 1);
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none, loss or a score of this task, found accuracy",
               [&] { stopping.observe(with_bleu(3.0, 20)); });
}

TEST(EarlyStopping, TakesTheMetricsOfATaskAndWantsDataForThem) {
  const std::vector<std::string> scores{"accuracy", "macro_f1"};
  const auto check = [&](const char* asked, bool has_validation) {
    check_early_stopping(asked, scores, has_validation, "`valid_labelled`");
  };
  EXPECT_NO_THROW(check("none", false));
  for (const char* asked : {"loss", "accuracy", "macro_f1", "macro-f1"}) {
    EXPECT_NO_THROW(check(asked, true)) << asked;
  }
  expect_error(ErrorKind::usage, "`early_stopping`: expected `valid_labelled`, found none",
               [&] { check("loss", false); });
  expect_error(
      ErrorKind::usage,
      "`early_stopping`: expected none, loss, accuracy or macro-f1 for this task, found bleu",
      [&] { check("bleu", true); });
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none or loss for this task, found bleu",
               [] { check_early_stopping("bleu", {}, true, "`valid_text`"); });
}

TEST(EarlyStopping, NotANumberIsNeverBetter) {
  EarlyStopping stopping("loss", 1);
  stopping.observe(with_loss(3.0));
  EXPECT_FALSE(stopping.observe(with_loss(std::nan(""))));
}

TEST(EarlyStopping, NeverStopsWithoutAMetric) {
  EarlyStopping stopping("none", 1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(stopping.observe(with_loss(3.0 + i)));
  EXPECT_FALSE(stopping.is_exhausted());
}

TEST(EarlyStopping, ResumesFromItsState) {
  EarlyStopping first("loss", 2);
  first.observe(with_loss(2.0));
  first.observe(with_loss(2.5));
  EarlyStopping second("loss", 2);
  second.state = first.state;
  EXPECT_FALSE(second.observe(with_loss(2.1)));
  EXPECT_TRUE(second.is_exhausted());
}

}  // namespace
}  // namespace heed::train
