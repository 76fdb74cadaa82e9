#include "heed/explore/decoding_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/toy_sessions.h"
#include "heed/explore/answer.h"
#include "heed/explore/attribution.h"
#include "heed/explore/beam_tree.h"
#include "heed/explore/training_routes.h"
#include "support/expect_error.h"
#include "train/toy_training.h"

namespace heed::explore {
namespace {

using nlohmann::json;

class Routes : public testing::Test {
 protected:
  Routes() {
    models::save_model_folder(folder_.path(), infer::word_by_word_model().model,
                              infer::word_by_word_model().tokenizer);
    add_decoding_routes(router_, state_);
    add_training_routes(router_, state_);
  }

  // A run of "one two", as /api/run leaves it.
  std::shared_ptr<const Trace> add_trace(nn::Interventions interventions = {}) {
    const auto session = state_.sessions.session();
    PassInput input{source_ids(*session, "one two"),
                    target_inputs(*session, answer(*session, "one two"))};
    return state_.traces.add("one two",
                             Recording(session, std::move(input), std::move(interventions)));
  }
  serve::Response get(const std::string& path, std::map<std::string, std::string> query = {}) {
    return router_.answer({.method = "GET", .path = path, .query = std::move(query)});
  }
  serve::Response post(const std::string& path, const json& body) {
    return router_.answer({.method = "POST", .path = path, .body = body.dump()});
  }

  TemporaryFolder folder_;
  ExplorerState state_{folder_.path()};
  serve::Router router_;
};

TEST_F(Routes, TruthIsThatOfTheTrace) {
  nn::Interventions interventions;
  interventions.scales = {{"decoder.0.cross_attention", 0, 0.5f}};
  const auto trace = add_trace(interventions);
  const std::string path = "/api/trace/" + std::to_string(trace->id) + "/attribution";
  const serve::Response found = get(path, {{"target", "1"}});
  EXPECT_EQ(found.status, 200) << found.body;
  const Attribution expected =
      attribution(trace->session(), trace->recording.input(), interventions, {.place = 1});
  EXPECT_EQ(json::parse(found.body), json::parse(to_json(expected, trace->session()).dump()));
  const json other = json::parse(get(path, {{"target", "1"}, {"token", "3"}}).body);
  EXPECT_EQ(other["predicted"]["piece"], "</s>");

  EXPECT_EQ(get(path).status, 400);
  EXPECT_EQ(get(path, {{"target", "9"}}).status, 400);
  for (const std::int64_t token : {std::int64_t{1} << 20, (std::int64_t{1} << 32) + 1}) {
    EXPECT_EQ(get(path, {{"target", "1"}, {"token", std::to_string(token)}}).status, 400);
  }
  EXPECT_EQ(get("/api/trace/77/attribution", {{"target", "1"}}).status, 404);
}

TEST_F(Routes, TheBeamHasTheSizeThatIsAskedFor) {
  const auto trace = add_trace();
  const std::string path = "/api/trace/" + std::to_string(trace->id) + "/beam";
  const BeamTree expected = beam_tree(trace->session(), trace->source(), 2);
  EXPECT_EQ(json::parse(get(path, {{"size", "2"}}).body), to_json(expected, trace->session()));
  EXPECT_EQ(get(path).status, 200);
  EXPECT_EQ(get(path, {{"size", "0"}}).status, 400);
  EXPECT_EQ(get(path, {{"size", "1000"}}).status, 400);
}

TEST_F(Routes, ABeamOverScoresThatAreNoNumbersIsRefused) {
  nn::Interventions interventions;
  interventions.scales = {{"decoder.0.cross_attention", 0, 3e38f}};
  const auto session = state_.sessions.session();
  expect_error(ErrorKind::data,
               "outcome: expected finite scores of the model, found NaN or infinity (an "
               "intervention is too large, or the weights are damaged)",
               [&] { beam_tree(*session, source_ids(*session, "one two"), 2, &interventions); });
}

TEST_F(Routes, NextTokensFollowATraceUpToAnyOfItsTokens) {
  const auto trace = add_trace();
  const auto first = [&](const json& request) {
    const serve::Response found = post("/api/next", request);
    EXPECT_EQ(found.status, 200) << found.body;
    return json::parse(found.body)["tokens"][0]["piece"];
  };
  EXPECT_EQ(first({{"trace", trace->id}, {"prefix", 1}}), "▁eins");
  EXPECT_EQ(first({{"trace", trace->id}, {"prefix", 2}}), "▁zwei");
  EXPECT_EQ(first({{"trace", trace->id}, {"prefix", nullptr}}), "</s>");
  EXPECT_EQ(first({{"text", "one two"}, {"target", "eins"}, {"temperature", 0}}), "▁zwei");
  EXPECT_EQ(post("/api/next", {{"trace", trace->id}, {"prefix", 9}}).status, 400);
  EXPECT_EQ(post("/api/next", {{"trace", "x"}}).status, 400);
  EXPECT_EQ(post("/api/next", {{"text", 7}}).status, 400);
  EXPECT_EQ(post("/api/next", {{"text", "one"}, {"temperature", -1}}).status, 400);
  EXPECT_EQ(post("/api/next", {{"trace", 77}}).status, 404);
}

TEST_F(Routes, FiltersSayWhatIsKept) {
  const auto trace = add_trace();
  const json tokens = json::parse(
      post("/api/next", {{"trace", trace->id}, {"top_k", 2}, {"top_p", 1}, {"min_p", 0}})
          .body)["tokens"];
  EXPECT_EQ(tokens[1]["kept"], true);
  EXPECT_EQ(tokens[2]["kept"], false);
  EXPECT_EQ(tokens[2]["chance"], 0);
  EXPECT_GT(tokens[2]["probability"], 0);
}

TEST_F(Routes, AModelThatWasNotTrainedHereHasNoHistory) {
  EXPECT_EQ(json::parse(get("/api/training").body)["updates"]["update"], json::array());
  EXPECT_EQ(json::parse(get("/api/checkpoints").body), (json{{"updates", json::array()}}));
}

TEST(TrainingRoutes, TellTheHistoryAndTheCheckpointsOfARun) {
  const train::ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.keep = 3;
  train::TrainingObserver nobody;
  train::train_model(training, nobody);

  ExplorerState state(training.model_folder);
  serve::Router router;
  add_training_routes(router, state);
  const json history = json::parse(router.answer({.path = "/api/training"}).body);
  EXPECT_EQ(history["updates"]["update"].size(), 16u);
  EXPECT_EQ(history["updates"]["tokens_per_second"].size(), 16u);
  EXPECT_EQ(history["is_live"], false);
  const json checkpoints = json::parse(router.answer({.path = "/api/checkpoints"}).body);
  EXPECT_EQ(checkpoints["updates"], history["checkpoints"]);
  EXPECT_EQ(checkpoints["updates"].front(), 0);
}

TEST(TrainingRoutes, WithoutAModelThereIsNoRun) {
  ExplorerState state(std::nullopt);
  serve::Router router;
  add_training_routes(router, state);
  const serve::Response found = router.answer({.path = "/api/training"});
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(json::parse(found.body)["validations"], json::array());
}

}  // namespace
}  // namespace heed::explore
