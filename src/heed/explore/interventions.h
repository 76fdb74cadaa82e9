// What a user wants to be otherwise for one run: heads, links, the similarity, words.
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

// {"heads": [{"site", "head", "scale"}], "links": [{"site", "head" or null, "query", "key"}],
//  "similarity": null or "dot", "cosine", "scaled-dot", "replace": [{"side", "word", "text"}]}
// null and missing fields change nothing. Refuses (ErrorKind::usage) sites and heads that the model
// does not have, and values that are not of their kind.
RunInterventions interventions_from_json(const nlohmann::json& json, const ModelSession& session);

// The text with its words replaced.
std::string with_replacements(const std::string& text, const RunInterventions& interventions,
                              const ModelSession& session);

}  // namespace heed::explore
