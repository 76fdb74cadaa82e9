// A beam search as a tree: all candidates of all steps, kept, finished or dropped.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "heed/explore/model_session.h"
#include "heed/infer/beam.h"
#include "heed/nn/interventions.h"

namespace heed::explore {

struct BeamNode {
  using State = infer::BeamCandidate::Fate;

  std::optional<Index> parent = std::nullopt;  // none: the root, before the first token
  int token = 0;
  float log_probability = 0;
  double score = 0;                                       // sum of log-probabilities up to here
  std::optional<double> normalised_score = std::nullopt;  // by which finished ones compete
  Index step = 0;                                         // tokens up to here
  Index rank = 0;                                         // among the step's candidates, 0 the best
  State state = State::live;                              // live: it was extended
};

struct BeamTree {
  std::vector<BeamNode> nodes;  // their ids are their numbers; parents come before children
  std::vector<Index> best;      // from the root to the end of the winner
};

// The search for the translation of source tokens, which end with the end token, as the command
// line would run it with this beam. Refuses (ErrorKind::usage) models that do not translate.
BeamTree beam_tree(const ModelSession& session, std::span<const int> source, Index beam_size,
                   const nn::Interventions* interventions = nullptr);

nlohmann::json to_json(const BeamTree& tree, const ModelSession& session);

}  // namespace heed::explore
