#include "heed/train/text_metrics.h"

#include <gtest/gtest.h>

#include <array>

#include "support/expect_error.h"

namespace heed::train {
namespace {

using Names = std::vector<std::string>;

TEST(TextMetrics, NamesAreReadInTheirOrder) {
  const std::vector expected{TextMetric::rouge, TextMetric::bleu};
  EXPECT_EQ(parse_text_metrics("rouge,bleu", "metrics"), expected);
  EXPECT_TRUE(parse_text_metrics("none", "metrics").empty());
}

TEST(TextMetrics, RefusesOtherNamesAndTheSameTwice) {
  expect_error(ErrorKind::usage,
               "metrics: expected one of bleu, chrf, rouge, exact-match, squad, found luck",
               [] { parse_text_metrics("bleu,luck", "metrics"); });
  expect_error(ErrorKind::usage, "metrics: expected different names, found bleu twice",
               [] { parse_text_metrics("bleu,bleu", "metrics"); });
  for (const char* bad : {"", ",", "bleu,", "none,bleu", "BLEU"}) {
    EXPECT_THROW(parse_text_metrics(bad, "metrics"), Error) << bad;
  }
}

TEST(TextMetrics, EveryScoreHasItsName) {
  const auto all = parse_text_metrics("bleu,chrf,rouge,exact-match,squad", "metrics");
  EXPECT_EQ(score_names(all), (Names{"bleu", "chrf", "rouge1", "rouge2", "rougeL", "exact_match",
                                     "squad_exact_match", "squad_f1"}));
}

TEST(TextMetrics, ScoresOfOneWordAnswersAreInPercent) {
  const Names outputs{"kitchen", "the garden", "hall", "office"};
  const Names references{"kitchen", "garden", "bedroom", "hall"};
  const auto metrics = parse_text_metrics("exact-match,squad,rouge", "metrics");
  const auto scores = text_scores(metrics, outputs, references, {});
  const std::array expected{
      25.0, 50.0, 50.0, 100 * (1 + 2.0 / 3) / 4, 0.0, 100 * (1 + 2.0 / 3) / 4};
  ASSERT_EQ(scores.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(scores[i].value, expected[i], 1e-9) << scores[i].name;
  }
}

}  // namespace
}  // namespace heed::train
