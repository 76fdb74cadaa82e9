// The answers before and after an intervention, and the probabilities of the first answer under
// both: what if attention worked otherwise, or another word stood there?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/explore/answer.h"

namespace heed::explore {

// One piece of the first answer, teacher-forced on both.
struct TeacherForcedPiece {
  std::string piece;  // a token, a word for a mask, a class, or a word and its tag
  double before = 0;  // probabilities
  double after = 0;
};

struct WhatIf {
  Answer before;  // of the model as it is, to the text as it was
  Answer after;   // of the model with interventions, to the edited text
  // Translation and language: the tokens of the first answer, each after those before it.
  // Classifier: the classes, best first. Masked: the word for each mask. Tagger: the words.
  std::vector<TeacherForcedPiece> pieces;
};

struct WhatIfInput {
  std::string text;
  std::string edited_text;
  const nn::Interventions& interventions;
  std::optional<Index> beam_size = std::nullopt;
};

WhatIf what_if(const ModelSession& session, const WhatIfInput& input);

// {"before": answer, "after": answer, "tokens": [{"position", "piece", "before", "after"}]}
nlohmann::json to_json(const WhatIf& what_if, const ModelSession& session);

}  // namespace heed::explore
