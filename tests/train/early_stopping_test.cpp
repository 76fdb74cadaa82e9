#include "heed/train/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"

namespace heed::train {
namespace {

TEST(EarlyStopping, StopsAfterPatienceValidationsWithoutALowerLoss) {
  EarlyStopping stopping(StoppingMetric::loss, 2);
  EXPECT_TRUE(stopping.observe(3.0, {}));
  EXPECT_FALSE(stopping.observe(3.0, {}));
  EXPECT_TRUE(stopping.observe(2.9, {}));
  EXPECT_FALSE(stopping.observe(2.95, {}));
  EXPECT_FALSE(stopping.is_exhausted());
  EXPECT_FALSE(stopping.observe(2.91, {}));
  EXPECT_TRUE(stopping.is_exhausted());
}

TEST(EarlyStopping, HigherBleuIsBetter) {
  EarlyStopping stopping(StoppingMetric::bleu, 1);
  EXPECT_TRUE(stopping.observe(3.0, 10.0));
  EXPECT_TRUE(stopping.observe(4.0, 11.0));
  EXPECT_FALSE(stopping.observe(1.0, 10.5));
  EXPECT_TRUE(stopping.is_exhausted());
}

TEST(EarlyStopping, TakesTheMetricsOfATaskAndWantsDataForThem) {
  const auto check = [](StoppingMetric asked, bool has_validation) {
    check_early_stopping(asked, StoppingMetric::accuracy, has_validation, "`valid_labelled`");
  };
  EXPECT_NO_THROW(check(StoppingMetric::none, false));
  EXPECT_NO_THROW(check(StoppingMetric::loss, true));
  EXPECT_NO_THROW(check(StoppingMetric::accuracy, true));
  expect_error(ErrorKind::usage, "`early_stopping`: expected `valid_labelled`, found none",
               [&] { check(StoppingMetric::loss, false); });
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none, loss or accuracy for this task, found bleu",
               [&] { check(StoppingMetric::bleu, true); });
  expect_error(
      ErrorKind::usage, "`early_stopping`: expected none or loss for this task, found bleu",
      [] { check_early_stopping(StoppingMetric::bleu, std::nullopt, true, "`valid_text`"); });
}

TEST(EarlyStopping, NotANumberIsNeverBetter) {
  EarlyStopping stopping(StoppingMetric::loss, 1);
  stopping.observe(3.0, {});
  EXPECT_FALSE(stopping.observe(std::nan(""), {}));
}

TEST(EarlyStopping, NeverStopsWithoutAMetric) {
  EarlyStopping stopping(StoppingMetric::none, 1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(stopping.observe(3.0 + i, {}));
  EXPECT_FALSE(stopping.is_exhausted());
}

TEST(EarlyStopping, ResumesFromItsState) {
  EarlyStopping first(StoppingMetric::loss, 2);
  first.observe(2.0, {});
  first.observe(2.5, {});
  EarlyStopping second(StoppingMetric::loss, 2);
  second.state = first.state;
  EXPECT_FALSE(second.observe(2.1, {}));
  EXPECT_TRUE(second.is_exhausted());
}

}  // namespace
}  // namespace heed::train
