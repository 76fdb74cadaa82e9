// Beam search: the most likely translations of a batch of sentences.
#pragma once

#include <vector>

#include "heed/models/translation_model.h"

namespace heed::generate {

struct BeamSearchOptions {
  Index beam_size = 5;        // hypotheses kept at each step; 1 is greedy search
  double length_penalty = 1;  // hypotheses compete by score / length^penalty
  Index max_length = 0;       // in tokens, the end token not counted; 0: default_max_length
  Index n_best = 1;           // hypotheses returned, at most beam_size
  bool allow_unknown = true;  // may the unknown token come out?
};

struct Hypothesis {
  std::vector<int> ids;         // without the end token
  double score = 0;             // the sum of log-probabilities, the end token's included
  double normalised_score = 0;  // score / length^penalty, the end token counted
};

// Twice the source and some, within reason.
Index default_max_length(Index source_length);

// For each source, up to n_best hypotheses, best first; at least one, and each of at least one
// token. Sources end with the end token. Ties go to the lower token, then to the better parent. The
// result for one source has the same bits whatever the others are.
//
// A hypothesis is finished when it ends among the beam_size best candidates of its step; a sentence
// is finished when beam_size hypotheses are, or when none that is still growing can become one of
// the n best.
std::vector<std::vector<Hypothesis>> beam_search(const models::TranslationModel& model,
                                                 const models::PackedIds& sources,
                                                 const BeamSearchOptions& options = {});

}  // namespace heed::generate
