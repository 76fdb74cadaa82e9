#include "heed/explore/beam_tree.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/finite_outcome.h"
#include "heed/infer/beam_search.h"

namespace heed::explore {
namespace {

using nlohmann::json;
using State = BeamNode::State;

class TreeBuilder : public infer::BeamObserver {
 public:
  // The root is what the target starts with.
  explicit TreeBuilder(int start) : nodes{{.token = start}} {}

  void on_step(std::span<const infer::BeamCandidate> candidates) override {
    ++step_;
    std::vector<Index> live;
    for (Index rank = 0; rank < std::ssize(candidates); ++rank) {
      if (candidates[rank].fate == State::live) live.push_back(std::ssize(nodes));
      add(candidates[rank], rank);
    }
    live_ = std::move(live);
  }

  std::vector<BeamNode> nodes;

 private:
  void add(const infer::BeamCandidate& candidate, Index rank) {
    BeamNode node{.parent = live_[candidate.parent],
                  .token = candidate.token.token,
                  .log_probability = candidate.token.log_probability,
                  .score = candidate.rank,
                  .step = step_,
                  .rank = rank,
                  .state = candidate.fate};
    if (node.state == State::finished) node.normalised_score = candidate.normalised_score;
    nodes.push_back(node);
  }

  Index step_ = 0;
  std::vector<Index> live_{0};  // nodes of the beam's hypotheses
};

std::vector<Index> path_to(const std::vector<BeamNode>& nodes, Index end) {
  std::vector<Index> path;
  for (std::optional<Index> node = end; node; node = nodes[*node].parent) path.push_back(*node);
  std::ranges::reverse(path);
  return path;
}

// The tokens of a path without the root's and without the end token.
std::vector<int> ids_of(const std::vector<BeamNode>& nodes, std::span<const Index> path) {
  std::vector<int> ids;
  for (const Index node : path.subspan(1)) ids.push_back(nodes[node].token);
  if (!ids.empty()) ids.pop_back();
  return ids;
}

// Every hypothesis is one path only, so its tokens find it.
std::vector<Index> winning_path(const std::vector<BeamNode>& nodes,
                                const infer::Hypothesis& winner) {
  for (Index node = 0; node < std::ssize(nodes); ++node) {
    if (nodes[node].state != State::finished) continue;
    std::vector<Index> path = path_to(nodes, node);
    if (ids_of(nodes, path) == winner.ids) return path;
  }
  assert(false);
  return {};
}

const char* name_of(State state) {
  switch (state) {
    case State::live:
      return "live";
    case State::finished:
      return "finished";
    default:
      return "dropped";
  }
}

json to_json(const BeamNode& node, Index id, const ModelSession& session) {
  json object{{"id", id},
              {"parent", nullptr},
              {"piece", session.tokenizer().piece(node.token)},
              {"log_probability", node.log_probability},
              {"score", node.score},
              {"step", node.step},
              {"state", name_of(node.state)},
              {"rank", node.rank}};
  if (node.parent) object["parent"] = *node.parent;
  if (node.normalised_score) object["normalised_score"] = *node.normalised_score;
  return object;
}

}  // namespace

BeamTree beam_tree(const ModelSession& session, std::span<const int> source, Index beam_size,
                   const nn::Interventions* interventions) {
  check_as(ErrorKind::usage, session.translator() != nullptr,
           "beam: expected a model that translates, found ", heed::name_of(session.kind()));
  TreeBuilder builder(session.tokenizer().tokens().decoder_start);
  infer::BeamSearchOptions options = session.translator()->default_search();
  options.beam_size = beam_size;
  options.hook = interventions;
  options.observer = &builder;
  const models::PackedIds input{{source.begin(), source.end()}, Spans::single(std::ssize(source))};
  const auto hypotheses = with_finite_outcome(
      [&] { return infer::beam_search(*session.translation(), input, options); });
  std::vector<Index> best = winning_path(builder.nodes, hypotheses.front().front());
  return {std::move(builder.nodes), std::move(best)};
}

json to_json(const BeamTree& tree, const ModelSession& session) {
  json nodes = json::array();
  for (Index id = 0; id < std::ssize(tree.nodes); ++id) {
    nodes.push_back(to_json(tree.nodes[id], id, session));
  }
  return {{"nodes", std::move(nodes)}, {"best", tree.best}};
}

}  // namespace heed::explore
