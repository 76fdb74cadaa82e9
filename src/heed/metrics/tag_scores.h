// Scores of a tagger: of single words and, where the tags are those of entities, of whole entities.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/metrics/classification.h"
#include "heed/metrics/sequence_labels.h"

namespace heed::metrics {

// Are all of these tags of entities, and not all of them O?
bool are_entity_tags(std::span<const std::string> tags);

struct TagScores {
  ConfusionTable words;
  std::optional<SequenceLabelScores> entities;  // nothing if the tags are not those of entities
};

// Of each line the numbers of its words' tags among `tags`. Refuses different counts of words.
TagScores score_tags(std::span<const std::vector<int>> predicted,
                     std::span<const std::vector<int>> right, std::span<const std::string> tags);

}  // namespace heed::metrics
