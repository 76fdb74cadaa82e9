#include "heed/models/packed_ids.h"

namespace heed::models {

PackedIds pack(std::span<const std::span<const int>> sequences, const TokensAround& around) {
  std::vector<int> ids;
  std::vector<Index> lengths;
  for (const std::span<const int> sequence : sequences) {
    const auto begin = std::ssize(ids);
    if (around.before) ids.push_back(*around.before);
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    if (around.behind) ids.push_back(*around.behind);
    lengths.push_back(std::ssize(ids) - begin);
  }
  return {std::move(ids), Spans::of_lengths(lengths)};
}

PackedIds pack(std::span<const std::vector<int>> sequences, const TokensAround& around) {
  const std::vector<std::span<const int>> views(sequences.begin(), sequences.end());
  return pack(views, around);
}

}  // namespace heed::models
