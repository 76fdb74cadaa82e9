#include "heed/explore/word_paths.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/small_folders.h"
#include "heed/explore/model_routes.h"
#include "heed/explore/run.h"

namespace heed::explore {
namespace {

using models::ModelKind;

std::vector<std::string> stages_of(const WordPath& path) {
  std::vector<std::string> stages;
  for (const PathPoint& point : path.points) stages.push_back(point.stage);
  return stages;
}

TEST(WordPaths, GoFromTheEmbeddingThroughEveryLayer) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const EmbeddingPlane plane(plane_table(trace->session()));
  const WordPaths paths = word_paths(trace->recording, plane);
  ASSERT_EQ(paths.source.size(), trace->source().size());
  ASSERT_EQ(paths.target.size(), trace->target().size());
  EXPECT_EQ(stages_of(paths.source[0]),
            (std::vector<std::string>{"embedding", "position", "encoder.0.self_attention",
                                      "encoder.0.feed_forward", "encoder.1.self_attention",
                                      "encoder.1.feed_forward"}));
  EXPECT_EQ(stages_of(paths.target[0])[3], "decoder.0.cross_attention");
}

TEST(WordPaths, PointsAreTheProjectionsOfWhatWasSeen) {
  models::TransformerConfig config = models::small_config();
  config.norm_place = models::NormPlace::before;
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const EmbeddingPlane plane(plane_table(trace->session()));
  const WordPaths paths = word_paths(trace->recording, plane);
  for (const auto& [number, stage] : {std::pair{0, "encoder.words"},
                                      {1, "encoder.embedded"},
                                      {2, "encoder.0.after_self_attention"},
                                      {3, "encoder.0.after_feed_forward"},
                                      {6, "encoder.final"}}) {
    const Tensor& seen = trace->recording.stage(stage);
    for (std::size_t word = 0; word < paths.source.size(); ++word) {
      const PlanePoint expected = plane.project(seen.values().subspan(word * 16, 16));
      EXPECT_EQ(paths.source[word].points[number].at.x, expected.x);
      EXPECT_EQ(paths.source[word].points[number].at.y, expected.y);
    }
  }
  // The first point is where the word's row of the table lies.
  const Tensor table = plane_table(trace->session());
  const std::size_t row = static_cast<std::size_t>(trace->source()[0]);
  EXPECT_EQ(paths.source[0].points[0].at.x, plane.project(table.values().subspan(row * 16, 16)).x);
}

TEST(WordPaths, AnchorsAreOtherPiecesThanTheWords) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat")["trace"]);
  const EmbeddingPlane plane(plane_table(trace->session()));
  const WordPaths paths = word_paths(trace->recording, plane);
  EXPECT_TRUE(paths.target.empty());
  EXPECT_FALSE(paths.anchors.empty());
  for (const Anchor& anchor : paths.anchors) {
    for (const WordPath& path : paths.source) EXPECT_NE(anchor.piece, path.piece);
  }
}

TEST(WordPaths, ThePlaneIsTheSameForEverySentence) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  serve::Router router;
  add_model_routes(router, state);
  const auto paths_of = [&](const std::string& sentence) {
    const auto id = run(state, sentence)["trace"].get<Index>();
    const serve::Response response =
        router.answer({.path = "/api/trace/" + std::to_string(id) + "/paths"});
    EXPECT_EQ(response.status, 200) << response.body;
    return nlohmann::json::parse(response.body);
  };
  const nlohmann::json first = paths_of("the bat sleeps"), second = paths_of("a bat hits the ball");
  EXPECT_EQ(first["plane"], second["plane"]);
  const auto embedding_of_bat = [](const nlohmann::json& paths) -> nlohmann::json {
    for (const auto& path : paths["side"]["source"]) {
      if (path["piece"] == "\u2581bat") return path["points"][0];
    }
    return nullptr;
  };
  EXPECT_EQ(embedding_of_bat(first), embedding_of_bat(second));
}

}  // namespace
}  // namespace heed::explore
