// Accuracy over all items, and over the groups that they belong to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::metrics {

struct GroupAccuracy {
  std::string group;
  std::int64_t num_right = 0;
  std::int64_t num_items = 0;

  double accuracy() const;  // from 0 to 1; 0 without items
};

// Of all items; the group is empty.
GroupAccuracy total_accuracy(const std::vector<bool>& is_right);

// By group, in the order in which they occur first. An item with an empty group belongs to none.
// Refuses different counts.
std::vector<GroupAccuracy> accuracy_by_group(const std::vector<bool>& is_right,
                                             std::span<const std::string> groups);

}  // namespace heed::metrics
