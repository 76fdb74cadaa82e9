#include "heed/metrics/tag_scores.h"

#include <algorithm>

namespace heed::metrics {
namespace {

std::vector<int> concatenate(std::span<const std::vector<int>> lines) {
  std::vector<int> all;
  for (const std::vector<int>& line : lines) all.insert(all.end(), line.begin(), line.end());
  return all;
}

std::vector<std::vector<std::string>> names_of(std::span<const std::vector<int>> lines,
                                               std::span<const std::string> tags) {
  std::vector<std::vector<std::string>> names(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const int tag : lines[i]) names[i].push_back(tags[static_cast<std::size_t>(tag)]);
  }
  return names;
}

}  // namespace

bool are_entity_tags(std::span<const std::string> tags) {
  return std::ranges::all_of(tags, is_entity_tag) &&
         std::ranges::any_of(tags, [](const std::string& tag) { return tag != "O"; });
}

TagScores score_tags(std::span<const std::vector<int>> predicted,
                     std::span<const std::vector<int>> right, std::span<const std::string> tags) {
  TagScores scores{
      ConfusionTable(concatenate(right), concatenate(predicted), static_cast<int>(tags.size())),
      {}};
  if (are_entity_tags(tags)) {
    scores.entities = score_sequence_labels(names_of(predicted, tags), names_of(right, tags));
  }
  return scores;
}

}  // namespace heed::metrics
