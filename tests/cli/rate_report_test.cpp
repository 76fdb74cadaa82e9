#include "heed/cli/rate_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

const train::RateTest falling{{{1e-5, 8.5, 8}, {1e-4, 8, 7}, {1e-3, 5, 4}, {1e-2, 40, 20}},
                              /*has_diverged=*/true,
                              /*is_interrupted=*/false};

TEST(RateReport, IsATableWithASuggestion) {
  EXPECT_EQ(rate_table(falling, /*with_plot=*/false),
            "learning rate      loss\n"
            "     1.00e-05    8.0000\n"
            "     1.00e-04    7.0000\n"
            "     1.00e-03    4.0000\n"
            "     1.00e-02   20.0000\n"
            "suggestion: --learning-rate 0.0001 (lowest loss 4 at 0.001; diverged after 0.01)\n");
}

TEST(RateReport, APlotEndsWhereALossExplodes) {
  const std::string plot = rate_table(falling, /*with_plot=*/true);
  const auto stars_at = [&](const std::string& row) {
    const std::string line = plot.substr(plot.find(row));
    return line.find('*') - row.size();
  };
  EXPECT_EQ(stars_at("4.0000  "), 0u);
  EXPECT_EQ(stars_at("7.0000  "), 30u);
  EXPECT_EQ(stars_at("8.0000  "), 40u);
  EXPECT_EQ(stars_at("20.0000  "), 50u);
}

TEST(RateReport, OfALongTestIsThirtyRowsAtMost) {
  train::RateTest test;
  for (int i = 0; i < 120; ++i) test.points.push_back({1e-6 * (i + 1), 5, 5});
  const std::string table = rate_table(test, /*with_plot=*/false);
  EXPECT_EQ(std::ranges::count(table, '\n'), 32);
  EXPECT_TRUE(table.ends_with(
      "no suggestion: the loss falls at none of these rates; did not diverge up to 0.00012\n"))
      << table;
}

TEST(RateReport, OfATestThatDivergedAtOnceSaysSo) {
  train::RateTest test;
  test.has_diverged = true;
  EXPECT_EQ(rate_table(test, true), "no suggestion: diverged in the first update\n");
  EXPECT_EQ(rate_json(test), R"({"suggestion":null,"lowest":null,"diverged":true,"points":[]})"
                             "\n");
}

TEST(RateReport, AsJsonHasEveryPoint) {
  const auto object = nlohmann::json::parse(rate_json(falling));
  EXPECT_EQ(object["suggestion"], 1e-4);
  EXPECT_EQ(object["lowest"]["smoothed"], 4);
  EXPECT_EQ(object["points"].size(), 4u);
  EXPECT_EQ(object["points"][3]["loss"], 40);
}

}  // namespace
}  // namespace heed::cli
