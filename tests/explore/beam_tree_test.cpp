#include "heed/explore/beam_tree.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/toy_sessions.h"
#include "heed/base/error.h"
#include "heed/explore/answer.h"

namespace heed::explore {
namespace {

using State = BeamNode::State;

BeamTree tree_of(const SharedSession& session, const std::string& line, Index size,
                 const nn::Interventions* interventions = nullptr) {
  return beam_tree(*session, source_ids(*session, line), size, interventions);
}

// It has learned nothing, so the best beginning is seldom that of the best sentence.
SharedSession random_translation() {
  const models::TranslationModelFolder& folder = infer::word_by_word_model();
  return session_of(models::TranslationModel(folder.model.config(), 5), folder.tokenizer);
}

// Changed so that the model is in doubt, and a beam has something to choose.
nn::Interventions doubt() {
  nn::Interventions interventions;
  interventions.scales = {{"decoder.0.cross_attention", 0, 0}};
  return interventions;
}

void expect_is_answer(const BeamTree& tree, const Answer& answer) {
  ASSERT_EQ(tree.best.size(), answer.tokens.size() + 1);
  double score = 0;
  for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
    const BeamNode& node = tree.nodes[tree.best[i + 1]];
    EXPECT_EQ(node.parent, tree.best[i]);
    EXPECT_EQ(node.token, answer.tokens[i].token);
    EXPECT_EQ(node.log_probability, answer.tokens[i].log_probability);
    score += node.log_probability;
    EXPECT_EQ(node.score, score);
  }
  EXPECT_EQ(tree.nodes[tree.best.back()].score, answer.score);
  EXPECT_EQ(tree.nodes[tree.best.back()].state, State::finished);
}

TEST(BeamTree, TheWinningPathIsTheTranslationToTheBit) {
  const nn::Interventions interventions = doubt();
  Index num_overtaken = 0;
  for (const SharedSession& session : {toy_translation(), random_translation()}) {
    for (const Index size : {1, 2, 5}) {
      for (const std::string line : {"one two three", "four", "two two"}) {
        SCOPED_TRACE(line);
        const BeamTree tree = tree_of(session, line, size);
        expect_is_answer(tree, answer(*session, line, {.beam_size = size}));
        expect_is_answer(tree_of(session, line, size, &interventions),
                         answer(*session, line, {&interventions, size}));
        for (const Index node : tree.best) num_overtaken += tree.nodes[node].rank > 0;
      }
    }
  }
  EXPECT_GT(num_overtaken, 0);
}

TEST(BeamTree, EveryStepKeepsTheBestOfItsCandidates) {
  const nn::Interventions interventions = doubt();
  constexpr Index size = 3;
  const BeamTree tree = tree_of(toy_translation(), "one two three", size, &interventions);
  std::map<Index, std::map<State, Index>> counts;  // by step
  std::map<Index, double> last_score;
  for (Index id = 1; id < std::ssize(tree.nodes); ++id) {
    const BeamNode& node = tree.nodes[id];
    ASSERT_LT(*node.parent, id);
    const BeamNode& parent = tree.nodes[*node.parent];
    EXPECT_EQ(parent.state, State::live);
    EXPECT_EQ(parent.step + 1, node.step);
    EXPECT_EQ(parent.score + node.log_probability, node.score);
    if (node.rank > 0) {
      EXPECT_LE(node.score, last_score[node.step]);
    }
    last_score[node.step] = node.score;
    ++counts[node.step][node.state];
    EXPECT_EQ(node.normalised_score.has_value(), node.state == State::finished);
  }
  EXPECT_GT(counts.size(), 2u);
  Index num_dropped = 0;
  for (auto& [step, by_state] : counts) {
    EXPECT_LE(by_state[State::live], size);
    EXPECT_LE(by_state[State::live] + by_state[State::finished] + by_state[State::dropped],
              2 * size);
    num_dropped += by_state[State::dropped];
  }
  EXPECT_GT(num_dropped, 0);
}

TEST(BeamTree, TheBestFinishedHypothesisWins) {
  const nn::Interventions interventions = doubt();
  const BeamTree tree = tree_of(toy_translation(), "one two three", 5, &interventions);
  const double best = *tree.nodes[tree.best.back()].normalised_score;
  Index num_finished = 0;
  for (const BeamNode& node : tree.nodes) {
    if (node.state != State::finished) continue;
    ++num_finished;
    EXPECT_LE(*node.normalised_score, best);
  }
  EXPECT_GT(num_finished, 1);
}

TEST(BeamTree, IsWrittenWithPieces) {
  const BeamTree tree = tree_of(toy_translation(), "one two", 2);
  const nlohmann::json written = to_json(tree, *toy_translation());
  EXPECT_EQ(written["nodes"].size(), tree.nodes.size());
  EXPECT_EQ(written["nodes"][0]["parent"], nullptr);
  EXPECT_EQ(written["best"][0], 0);
  const nlohmann::json first = written["nodes"][tree.best[1]];
  EXPECT_EQ(first["piece"], "▁eins");
  EXPECT_EQ(first["state"], "live");
  EXPECT_EQ(first["step"], 1);
  EXPECT_EQ(written["nodes"][tree.best.back()]["piece"], "</s>");
  EXPECT_EQ(written["nodes"][tree.best.back()]["state"], "finished");
}

TEST(BeamTree, RefusesModelsThatDoNotTranslate) {
  EXPECT_THROW(beam_tree(*toy_language(), std::vector<int>{5}, 2), Error);
}

}  // namespace
}  // namespace heed::explore
