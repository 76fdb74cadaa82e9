#include "heed/cli/sweep_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace heed::cli {
namespace {

std::vector<train::SweepRun> three_runs() {
  std::vector<train::SweepRun> runs(3);
  const char* rates[]{"0.001", "0.003", "10"};
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].settings = {{"learning-rate", rates[i]}, {"dropout", "0"}};
    runs[i].training.model_folder = "m/" + std::to_string(i);
  }
  return runs;
}

train::SweepResult result(double loss, double bleu) {
  train::ValidationReport report;
  report.loss = loss;
  report.scores = {{"bleu", bleu}};
  return {{.updates = 400, .seconds = 90, .validation = report}, "sha256:1", ""};
}

train::SweepOutcome outcome() {
  train::SweepOutcome outcome;
  outcome.results = {result(2.5, 9.25), result(1.25, 31.5), {{.updates = 7}, "", "diverged: nan"}};
  outcome.best = 1;
  return outcome;
}

TEST(SweepReport, MarksTheBestRunAndNamesItsFolder) {
  EXPECT_EQ(sweep_table(three_runs(), outcome()),
            "   learning-rate  dropout      loss   BLEU  updates  minutes\n"
            "           0.001        0    2.5000   9.25      400      1.5\n"
            "*          0.003        0    1.2500  31.50      400      1.5\n"
            "              10        0  diverged               7      0.0\n"
            "best by loss: m/1\n");
}

TEST(SweepReport, WithoutABestRunNamesNone) {
  train::SweepOutcome none = outcome();
  none.results.erase(none.results.begin(), none.results.begin() + 2);
  none.best.reset();
  EXPECT_EQ(sweep_table(three_runs(), none),
            "  learning-rate  dropout      loss  updates  minutes\n"
            "          0.001        0  diverged        7      0.0\n");
}

TEST(SweepReport, AsJsonIsAnObjectForEachRun) {
  std::istringstream lines(sweep_json(three_runs(), outcome()));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            R"({"settings":{"learning-rate":"0.001","dropout":"0"},"folder":"m/0","best":false,)"
            R"("diverged":false,"updates":400,"minutes":1.5,"weights":"sha256:1","loss":2.5,)"
            R"("bleu":9.25})");
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["best"], true);
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"settings":{"learning-rate":"10","dropout":"0"},"folder":"m/2","best":false,)"
                  R"("diverged":true,"updates":7,"minutes":0.0})");
}

}  // namespace
}  // namespace heed::cli
