#include "heed/metrics/sequence_labels.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

struct Tag {
  char position = 'O';
  std::string_view type;
};

Tag parse_tag(std::string_view tag) {
  check(is_entity_tag(tag),
        "sequence labels: expected O, or B, I, E or S with a type such as B-PER, got '", tag, "'");
  if (tag == "O") return {};
  const std::string_view type = tag.substr(std::min<std::size_t>(tag.size(), 2));
  return {tag[0], type.empty() ? "_" : type};
}

bool continues(const Tag& tag, const Tag& before) {
  return (before.position == 'B' || before.position == 'I') &&
         (tag.position == 'I' || tag.position == 'E') && tag.type == before.type;
}

struct Counts {
  std::int64_t matched = 0, predicted = 0, right = 0;
};

PrecisionRecall scores_of(const Counts& counts) {
  return precision_recall(counts.matched, counts.predicted, counts.right);
}

// Both are in the order of their beginnings, which differ.
void count_entities(const std::vector<Entity>& predicted, const std::vector<Entity>& right,
                    std::map<std::string, Counts>& of_type) {
  for (const Entity& entity : right) ++of_type[entity.type].right;
  for (const Entity& entity : predicted) {
    Counts& counts = of_type[entity.type];
    ++counts.predicted;
    const auto same = std::ranges::lower_bound(right, entity.begin, {}, &Entity::begin);
    counts.matched += same != right.end() && *same == entity;
  }
}

}  // namespace

bool is_entity_tag(std::string_view tag) {
  constexpr std::string_view positions = "BIES";
  const bool has_position = !tag.empty() && positions.find(tag[0]) != positions.npos;
  return tag == "O" || (has_position && (tag.size() == 1 || tag[1] == '-'));
}

std::vector<Entity> entities_of(std::span<const std::string> tags) {
  std::vector<Entity> entities;
  Tag before;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const Tag tag = parse_tag(tags[i]);
    if (continues(tag, before)) {
      ++entities.back().end;
    } else if (tag.position != 'O') {
      entities.push_back({std::string(tag.type), i, i + 1});
    }
    before = tag;
  }
  return entities;
}

SequenceLabelScores score_sequence_labels(std::span<const std::vector<std::string>> predicted,
                                          std::span<const std::vector<std::string>> references) {
  check(predicted.size() == references.size(),
        "sequence labels: expected one prediction for each of ", references.size(),
        " references, got ", predicted.size());
  std::map<std::string, Counts> of_type;
  std::int64_t num_tags = 0, num_correct_tags = 0;
  for (std::size_t i = 0; i < references.size(); ++i) {
    check(predicted[i].size() == references[i].size(), "sequence labels: expected ",
          references[i].size(), " tags for sequence ", i + 1, ", got ", predicted[i].size());
    for (std::size_t j = 0; j < references[i].size(); ++j, ++num_tags) {
      num_correct_tags += predicted[i][j] == references[i][j];
    }
    count_entities(entities_of(predicted[i]), entities_of(references[i]), of_type);
  }
  SequenceLabelScores result;
  if (num_tags > 0) {
    result.accuracy = static_cast<double>(num_correct_tags) / static_cast<double>(num_tags);
  }
  Counts all;
  for (const auto& [type, counts] : of_type) {
    all.matched += counts.matched;
    all.predicted += counts.predicted;
    all.right += counts.right;
    result.types.push_back({type, scores_of(counts), counts.right});
  }
  result.micro = scores_of(all);
  result.support = all.right;
  return result;
}

}  // namespace heed::metrics
