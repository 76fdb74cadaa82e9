#include "heed/cli/class_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace heed::cli {
namespace {

const std::vector<std::string> labels{"a\nb", "c\td"};

metrics::ConfusionTable table() {
  const std::vector<int> right{0, 0, 1}, given{0, 1, 1};
  return metrics::ConfusionTable(right, given, 2);
}

TEST(ClassReport, TheConfusionMatrixHasALineForEachClassWhateverItsLabel) {
  EXPECT_EQ(confusion_lines(table(), labels),
            "label\ta\\nb\tc\\td\n"
            "a\\nb\t1\t1\n"
            "c\\td\t0\t1\n");
}

metrics::LabelCounts label_counts() {
  const std::vector<metrics::LabelSet> right{{0, 1}, {}}, given{{0}, {}};
  return metrics::LabelCounts(right, given, 2);
}

TEST(ClassReport, OfSeveralLabelsHasThreeLines) {
  EXPECT_EQ(score_lines(label_counts()),
            "micro-F1 0.6667\nmacro-F1 0.5000\nsubset accuracy 0.5000 (1 of 2)\n");
  const auto report = label_report(label_counts(), labels);
  EXPECT_EQ(report["subset_accuracy"], 0.5);
  EXPECT_EQ(report["micro_precision"], 1.0);
  EXPECT_EQ(report["labels"][1]["label"], labels[1]);
  EXPECT_EQ(report["labels"][1]["recall"], 0.0);
}

TEST(ClassReport, OfNumbersHasCorrelationsAndTheError) {
  const std::vector<double> right{1, 2, 3}, given{1, 2, 4};
  EXPECT_EQ(number_score_lines(right, given), "Pearson 0.9820\nSpearman 1.0000\nMSE 0.333333\n");
  const auto report = number_report(right, given);
  EXPECT_EQ(report["lines"], 3);
  EXPECT_DOUBLE_EQ(report["mse"], 1.0 / 3);
}

TEST(ClassReport, JsonHasTheLabelsAsTheyAre) {
  const auto report = class_report(table(), labels, /*with_confusion=*/true);
  EXPECT_EQ(report["classes"][0]["label"], labels[0]);
  EXPECT_EQ(report["confusion"], (nlohmann::ordered_json{{1, 1}, {0, 1}}));
}

}  // namespace
}  // namespace heed::cli
