#include "heed/train/task.h"

#include <algorithm>

namespace heed::train {

std::string Task::describe_batch(Index epoch, Index batch) {
  return "batch " + std::to_string(batch + 1) + " of epoch " + std::to_string(epoch + 1);
}

std::string list_some(std::span<const std::string> items, std::size_t max_listed) {
  std::string text;
  for (const std::string& item : items.first(std::min(items.size(), max_listed))) {
    text.append(text.empty() ? "" : ", ").append(item);
  }
  if (items.size() > max_listed) {
    text.append(" and ").append(std::to_string(items.size() - max_listed)).append(" more");
  }
  return text;
}

std::string list_places(std::string_view what, std::span<const Index> places) {
  constexpr std::size_t max_listed = 8;
  std::vector<std::string> numbers;
  for (const Index place : places) numbers.push_back(std::to_string(place + 1));
  return std::string(what) + ' ' + list_some(numbers, max_listed);
}

}  // namespace heed::train
