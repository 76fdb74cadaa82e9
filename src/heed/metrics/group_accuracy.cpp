#include "heed/metrics/group_accuracy.h"

#include <algorithm>
#include <unordered_map>

#include "heed/base/error.h"

namespace heed::metrics {

double GroupAccuracy::accuracy() const {
  return num_items == 0 ? 0 : static_cast<double>(num_right) / static_cast<double>(num_items);
}

GroupAccuracy total_accuracy(const std::vector<bool>& is_right) {
  return {.group = {},
          .num_right = std::ranges::count(is_right, true),
          .num_items = std::ssize(is_right)};
}

std::vector<GroupAccuracy> accuracy_by_group(const std::vector<bool>& is_right,
                                             std::span<const std::string> groups) {
  check(is_right.size() == groups.size(), "accuracy: expected a group for each of ",
        is_right.size(), " items, got ", groups.size());
  std::vector<GroupAccuracy> all;
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].empty()) continue;
    const auto place = place_of.try_emplace(groups[i], all.size()).first;
    if (place->second == all.size()) all.push_back({.group = groups[i]});
    GroupAccuracy& group = all[place->second];
    ++group.num_items;
    group.num_right += is_right[i];
  }
  return all;
}

}  // namespace heed::metrics
