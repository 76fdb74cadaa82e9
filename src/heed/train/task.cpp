#include "heed/train/task.h"

#include <algorithm>

namespace heed::train {
namespace {

constexpr std::size_t max_listed = 8;

}  // namespace

std::string Task::describe_batch(Index epoch, Index batch) {
  return "batch " + std::to_string(batch + 1) + " of epoch " + std::to_string(epoch + 1);
}

std::string list_places(std::string_view what, std::span<const Index> places) {
  std::string text(what);
  const std::size_t num_listed = std::min(places.size(), max_listed);
  for (std::size_t i = 0; i < num_listed; ++i) {
    text.append(i == 0 ? " " : ", ").append(std::to_string(places[i] + 1));
  }
  if (places.size() > num_listed) {
    text.append(" and ").append(std::to_string(places.size() - num_listed)).append(" more");
  }
  return text;
}

}  // namespace heed::train
