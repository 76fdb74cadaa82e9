// Interventions of a user in one run: scale or ablate heads, knock out links, swap the similarity,
// replace words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/explore/model_session.h"
#include "heed/nn/interventions.h"

namespace heed::explore {

struct WordReplacement {
  Index word = 0;  // as TokenList counts them
  std::string text;
};

struct RunInterventions {
  nn::Interventions attention;
  std::vector<WordReplacement> replacements;  // of the source

  bool has_attention() const {
    return !attention.scales.empty() || !attention.knockouts.empty() ||
           attention.swapped_similarity;
  }
  bool is_empty() const { return !has_attention() && replacements.empty(); }
};

// {"head_scales": [{"site", "head", "scale"}],
//  "knockouts": [{"site", "head" or null for all, "query", "key"}],
//  "similarity": null or "dot", "cosine", "scaled-dot",
//  "replacements": [{"side", "word", "text"}]}
// null and missing fields have no effect. Refuses (ErrorKind::usage) sites and heads that the model
// does not have, and values that are not of their kind.
RunInterventions interventions_from_json(const nlohmann::json& json, const ModelSession& session);

// The text with its words replaced.
std::string with_replacements(const std::string& text, const RunInterventions& interventions,
                              const ModelSession& session);

}  // namespace heed::explore
