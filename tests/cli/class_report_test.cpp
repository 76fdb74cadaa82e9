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

TEST(ClassReport, JsonHasTheLabelsAsTheyAre) {
  const auto report = class_report(table(), labels, /*with_confusion=*/true);
  EXPECT_EQ(report["classes"][0]["label"], labels[0]);
  EXPECT_EQ(report["confusion"], (nlohmann::ordered_json{{1, 1}, {0, 1}}));
}

}  // namespace
}  // namespace heed::cli
