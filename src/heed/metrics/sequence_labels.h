// Scores of sequence labelling, such as named-entity recognition: whole entities, not tokens.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed::metrics {

// Tokens [begin, end) of a sequence.
struct Entity {
  std::string type;
  std::size_t begin = 0;
  std::size_t end = 0;

  auto operator<=>(const Entity&) const = default;
};

// The entities of one sequence of tags: O outside of entities; B-PER at the beginning of an entity,
// I-PER inside, E-PER at its end, S-PER for a single token (BIO or IOB2, IOB1, BIOES or IOBES). As
// in conlleval and seqeval's default mode, incomplete tags make entities too: one begins wherever
// the token before it is not the inside of an entity of its type. A tag without a type, B or I, is
// of the type "_". Refuses other tags.
std::vector<Entity> entities_of(std::span<const std::string> tags);

// Is it a tag that entities_of takes?
bool is_entity_tag(std::string_view tag);

struct EntityTypeScores {
  std::string type;
  PrecisionRecall scores;
  std::int64_t support = 0;  // entities of the type in the references
};

struct SequenceLabelScores {
  double accuracy = 0;    // share of the tokens whose tag equals the reference's
  PrecisionRecall micro;  // over the entities of all types
  std::int64_t support = 0;
  std::vector<EntityTypeScores> types;  // by name; also those that were only predicted
};

// An entity is right if type, begin and end are. Equals seqeval 1.2 in its default mode. Refuses
// different counts of sequences and of tags.
SequenceLabelScores score_sequence_labels(std::span<const std::vector<std::string>> predicted,
                                          std::span<const std::vector<std::string>> references);

}  // namespace heed::metrics
