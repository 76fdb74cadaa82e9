#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "explore/redone_cell.h"
#include "heed/explore/about.h"
#include "heed/explore/answer.h"
#include "heed/explore/attribution.h"
#include "heed/explore/beam_tree.h"
#include "heed/explore/head_words.h"
#include "heed/explore/next_tokens.h"
#include "heed/explore/word_paths.h"
#include "support/expect_error.h"
#include "train/other_families.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

std::shared_ptr<const Trace> run_of(ExplorerState& state, const std::string& text,
                                    ordered_json* result = nullptr) {
  ordered_json ran = run(state, text);
  const auto trace = state.traces.find(ran["trace"]);
  if (result != nullptr) *result = std::move(ran);
  return trace;
}

// Every picture of the heads, and the arithmetic behind some of their weights.
void expect_heads(const Recording& recording) {
  for (const Site& site : recording.session().sites()) {
    const Tensor weights = shown_weights(recording, site.name, {});
    EXPECT_EQ(weights.dim(0), site.heads);
    const Tensor words =
        shown_weights(recording, site.name, {.by_word = true, .hide_special = true});
    EXPECT_LE(words.dim(2), weights.dim(2));
    EXPECT_EQ(recording.view(site.name).scores.shape(), weights.shape());
    EXPECT_EQ(recording.head_facts(site.name).size(), static_cast<std::size_t>(site.heads));
  }
  expect_cells_redone(recording);
}

void expect_paths(const Recording& recording) {
  const EmbeddingPlane plane(plane_table(recording.session()));
  const WordPaths paths = word_paths(recording, plane);
  EXPECT_EQ(paths.source.size(), tokens_seen(recording.session(), recording.input()).size());
  EXPECT_EQ(paths.target.size(), recording.input().target.size());
}

void expect_attribution(const Recording& recording, Index place) {
  const Attribution why = attribution(recording.session(), recording.input(),
                                      recording.interventions(), {.place = place});
  EXPECT_EQ(why.inputs.size(), tokens_seen(recording.session(), recording.input()).size());
}

// Switches a head off, blocks a link and replaces the word of this number.
void expect_what_if(ExplorerState& state, const std::string& text, Index word,
                    const std::string& other) {
  const std::string site = state.sessions.session()->sites().front().name;
  const nlohmann::json interventions{
      {"head_scales", {{{"site", site}, {"head", 1}, {"scale", 0}}}},
      {"knockouts", {{{"site", site}, {"head", nullptr}, {"query", 1}, {"key", 0}}}},
      {"replacements", {{{"side", "source"}, {"word", word}, {"text", other}}}}};
  const ordered_json edited = run(state, text, {.interventions = interventions});
  EXPECT_TRUE(edited.contains("compare"));
  EXPECT_EQ(about(state)["model"]["sites"].size(), edited["sites"].size());
}

TEST(FamilyViews, ShowALlamaFolder) {
  const train::OtherFamilies families;
  ExplorerState state(families.llama());
  ordered_json ran;
  const auto trace = run_of(state, "red green", &ran);
  EXPECT_EQ(ran["source"]["pieces"].size(), 9u);
  EXPECT_EQ(ran["source"]["word_texts"], ordered_json({"red", "green"}));
  EXPECT_EQ(about(state)["model"]["head_width"], 4);
  expect_heads(trace->recording);
  expect_paths(trace->recording);
  expect_attribution(trace->recording, 8);
  EXPECT_FALSE(next_tokens(trace->session(), trace->recording.input(), nullptr, {}, 5).empty());
  const ordered_json edited = run(
      state, "red green",
      {.interventions = {{"replacements", {{{"side", "source"}, {"word", 0}, {"text", "blue"}}}}}});
  EXPECT_EQ(edited["source"]["word_texts"], ordered_json({"blue", "green"}));
}

// Without a text, its first token is the one that begins texts.
TEST(FamilyViews, ShowAGpt2FolderAndItsEmptyPrompt) {
  const train::OtherFamilies families;
  ExplorerState state(families.gpt2());
  const auto trace = run_of(state, "red green");
  expect_heads(trace->recording);
  expect_paths(trace->recording);
  expect_attribution(trace->recording, 8);
  EXPECT_EQ(source_ids(trace->session(), ""), std::vector<int>{256});
}

TEST(FamilyViews, ShowABertFolderWithItsSpecialTokens) {
  const train::OtherFamilies families;
  ExplorerState state(families.bert());
  ordered_json ran;
  const auto trace = run_of(state, "red <mask> blue", &ran);
  EXPECT_EQ(ran["source"]["word_texts"], ordered_json({"[CLS]", "red", "<mask>", "blue", "[SEP]"}));
  EXPECT_EQ(ran["source"]["special"], ordered_json({true, false, false, false, true}));
  EXPECT_EQ(ran["answer"]["masks"].size(), 1u);
  expect_heads(trace->recording);
  expect_paths(trace->recording);
  expect_attribution(trace->recording, 0);
}

TEST(FamilyViews, ShowAMarianFolder) {
  const train::OtherFamilies families;
  ExplorerState state(families.marian());
  ordered_json ran;
  const auto trace = run_of(state, "red green blue", &ran);
  EXPECT_EQ(ran["target"]["pieces"][0], "<pad>");
  EXPECT_EQ(ran["target"]["special"][0], true);
  expect_heads(trace->recording);
  expect_paths(trace->recording);
  expect_attribution(trace->recording, 0);
  const BeamTree tree = beam_tree(trace->session(), trace->source(), 2, nullptr);
  EXPECT_EQ(tree.nodes.front().token, ran["target"]["ids"][0].get<int>());
}

// An encoder without a head answers with its vector, and predicts nothing.
TEST(FamilyViews, ShowTheVectorOfAnEncoder) {
  models::TransformerConfig config = models::small_config(models::ModelKind::encoder);
  config.normalizes = true;
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  ordered_json ran;
  const auto trace = run_of(state, "the bat sleeps", &ran);
  EXPECT_EQ(ran["answer"]["vector"].size(), 16u);
  EXPECT_NEAR(ran["answer"]["length"].get<double>(), 1, 1e-6);
  EXPECT_EQ(ran["answer"]["pooling"], "mean");
  EXPECT_EQ(about(state)["model"]["kind"], "encoder");
  expect_heads(trace->recording);
  expect_paths(trace->recording);
  expect_error(ErrorKind::usage,
               "prediction: expected a model that predicts something, found heed-encoder",
               [&] { attribution(trace->session(), trace->recording.input(), {}, {}); });
  expect_what_if(state, "the bat sleeps", 0, "a");
  // Of one mind with the views: the recorded pass gives the same vector.
  const Tensor pooled = trace->recording.logits();
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(ran["answer"]["vector"][i].get<float>(), std::as_const(pooled).values()[i]);
  }
}

TEST(FamilyViews, AnswerWhatIfForEveryFamily) {
  const train::OtherFamilies families;
  for (const std::string& folder : {families.llama(), families.gpt2(), families.marian()}) {
    ExplorerState state(folder);
    expect_what_if(state, "red green", 0, "blue");
  }
  // Word 0 is [CLS].
  ExplorerState bert(families.bert());
  expect_what_if(bert, "red <mask> blue", 1, "green");
}

}  // namespace
}  // namespace heed::explore
