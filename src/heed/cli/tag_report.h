// The scores of a tagger, as lines of text or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "heed/metrics/tag_scores.h"

namespace heed::cli {

// accuracy 0.9634 (4030 of 4183 words)
// precision 0.8412, recall 0.8011, F1 0.8207 (523 entities)
// LOC: precision 0.8821, recall 0.8530, F1 0.8673 (211)
// and so on for every type of entity; where the tags are not those of entities, accuracy and
// macro-F1.
std::string score_lines(const metrics::TagScores& scores);

// The same, macro-F1, and precision, recall and F1 of every tag; the confusion matrix only if asked
// for.
nlohmann::ordered_json tag_report(const metrics::TagScores& scores,
                                  std::span<const std::string> tags, bool with_confusion);

}  // namespace heed::cli
