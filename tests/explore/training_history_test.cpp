#include "heed/explore/training_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace heed::explore {
namespace {

using nlohmann::json;
using Kind = TrainingHistory::Kind;

std::string update_line(Index update, double seconds) {
  return json{
      {"kind", "update"},     {"update", update},     {"loss", 10.0 / static_cast<double>(update)},
      {"learning_rate", 0.1}, {"gradient_norm", 2.5}, {"source_tokens", 30},
      {"target_tokens", 40},  {"seconds", seconds}}
      .dump();
}

std::string validation_line(Index update, double seconds) {
  return json{{"kind", "validation"},
              {"update", update},
              {"loss", 1.5},
              {"bleu", nullptr},
              {"seconds", seconds}}
      .dump();
}

TEST(TrainingHistory, HasTheNumbersOfTheLog) {
  TrainingHistory history;
  EXPECT_EQ(history.add(update_line(1, 0.5)), Kind::update);
  EXPECT_EQ(history.add(update_line(2, 1.0)), Kind::update);
  EXPECT_EQ(history.columns(10), json::parse(R"({"update": [1, 2], "loss": [10.0, 5.0],
      "learning_rate": [0.1, 0.1], "gradient_norm": [2.5, 2.5], "tokens_per_second": [80.0, 80.0]})"));
}

TEST(TrainingHistory, TheTimeOfAValidationIsNoTimeOfTraining) {
  TrainingHistory history;
  history.add(update_line(1, 0.5));
  EXPECT_EQ(history.add(validation_line(1, 10.5)), Kind::validation);
  history.add(update_line(2, 11.0));
  EXPECT_EQ(history.updates().back().tokens_per_second, 80.0);
  ASSERT_EQ(history.validations().size(), 1u);
  EXPECT_EQ(to_json(history.validations()[0]), json::parse(validation_line(1, 10.5)));
}

TEST(TrainingHistory, WhatIsNoNumberIsNull) {
  TrainingHistory history;
  EXPECT_EQ(history.add(R"({"kind": "update", "update": 3, "loss": null, "seconds": 0})"),
            Kind::update);
  EXPECT_TRUE(std::isnan(history.updates().back().loss));
  EXPECT_EQ(json::parse(to_json(history.updates().back()).dump()),
            json::parse(R"({"update": 3, "loss": null, "learning_rate": null,
                            "gradient_norm": null, "tokens_per_second": null})"));
}

TEST(TrainingHistory, PassesOverWhatIsNoLineOfItsOwn) {
  TrainingHistory history;
  for (const char* line :
       {"", "{", "[]", "7", R"({"kind": "update"})", R"({"kind": "update", "update": "3"})",
        R"({"kind": "party", "update": 3})", R"({"kind": 1, "update": 3})", "\xff"}) {
    EXPECT_EQ(history.add(line), Kind::other) << line;
  }
  EXPECT_TRUE(history.updates().empty());
}

TEST(TrainingHistory, PassesOverLinesThatNoRunWrites) {
  TrainingHistory history;
  const std::string begin = R"({"kind":"validation","update":1,"samples":)";
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(history.add(begin + deep + '}'), Kind::other);
  EXPECT_EQ(history.add(begin + '"' + std::string(2 << 20, 'x') + "\"}"), Kind::other);
  EXPECT_TRUE(history.validations().empty());
}

TEST(TrainingHistory, LeavesOutFieldsOfOtherTypesThanTheirOwn) {
  TrainingHistory history;
  EXPECT_EQ(history.add(R"({"kind": "validation", "update": 3, "loss": "low", "bleu": [1],
      "accuracy": 0.5, "other": 7, "samples": [5, {"source": 1, "output": "x"}, {"source": "a"},
      {"source": "a", "output": "b", "reference": 5}]})"),
            Kind::validation);
  EXPECT_EQ(to_json(history.validations()[0]), json::parse(R"({"kind": "validation", "update": 3,
      "accuracy": 0.5, "samples": [{"source": "a", "output": "b"}]})"));
  EXPECT_EQ(history.add(R"({"kind": "validation", "update": 4, "samples": 5})"), Kind::validation);
  EXPECT_EQ(to_json(history.validations()[1]),
            json::parse(R"({"kind": "validation", "update": 4})"));
}

TEST(TrainingHistory, ThinsValidationsAndThenTheirSamples) {
  TrainingHistory history;
  for (Index update = 1; update <= 12; ++update) {
    history.add(json{{"kind", "validation"},
                     {"update", update},
                     {"samples", {{{"source", "a"}, {"output", "b"}}}}}
                    .dump());
  }
  const Index size = std::ssize(history.validations()[0].samples);
  const auto updates = [&](Index max_points, Index max_samples, bool with_samples) {
    json found = json::array();
    for (const json& one : history.validations(max_points, max_samples * size)) {
      if (!with_samples || one.contains("samples")) found.push_back(one["update"]);
    }
    return found;
  };
  EXPECT_EQ(updates(12, 12, true).size(), 12u);
  EXPECT_EQ(updates(4, 12, true), json({1, 5, 9, 12}));
  EXPECT_EQ(updates(12, 11, false).size(), 12u);
  EXPECT_EQ(updates(12, 11, true), json({2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(updates(12, 3, true), json({4, 8, 12}));
  EXPECT_EQ(updates(12, 0, true), json({12})) << "the newest ones are always there";
}

TEST(TrainingHistory, IsThinnedToEveryNthUpdateAndTheLast) {
  TrainingHistory history;
  for (Index update = 1; update <= 12; ++update) {
    history.add(update_line(update, static_cast<double>(update)));
  }
  EXPECT_EQ(history.columns(12)["update"].size(), 12u);
  EXPECT_EQ(history.columns(11)["update"], json({1, 3, 5, 7, 9, 11, 12}));
  EXPECT_EQ(history.columns(4)["update"], json({1, 5, 9, 12}));
  EXPECT_EQ(history.columns(4)["loss"].back(), 10.0 / 12);
  EXPECT_EQ(history.columns(2)["update"], json({1, 12}));
  history.clear();
  EXPECT_EQ(history.columns(2)["update"], json::array());
}

TEST(TrainingHistory, NeverHasMorePointsThanAllowed) {
  TrainingHistory history;
  for (Index update = 1; update <= 200; ++update) {
    history.add(update_line(update, static_cast<double>(update)));
    for (const Index most : {2, 3, 7, 50}) {
      const json updates = history.columns(most)["update"];
      EXPECT_LE(std::ssize(updates), most);
      EXPECT_GE(std::ssize(updates), std::min(update, most / 2));
      EXPECT_EQ(updates.front(), 1);
      EXPECT_EQ(updates.back(), update);
    }
  }
}

}  // namespace
}  // namespace heed::explore
