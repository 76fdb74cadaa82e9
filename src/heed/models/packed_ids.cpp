#include "heed/models/packed_ids.h"

namespace heed::models {

PackedIds pack(std::span<const std::span<const int>> sequences, const ExtraTokens& extra) {
  std::vector<int> ids;
  std::vector<Index> lengths;
  for (const std::span<const int> sequence : sequences) {
    const auto begin = std::ssize(ids);
    if (extra.prepend) ids.push_back(*extra.prepend);
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    if (extra.append) ids.push_back(*extra.append);
    lengths.push_back(std::ssize(ids) - begin);
  }
  return {std::move(ids), Spans::of_lengths(lengths)};
}

PackedIds pack(std::span<const std::vector<int>> sequences, const ExtraTokens& extra) {
  const std::vector<std::span<const int>> views(sequences.begin(), sequences.end());
  return pack(views, extra);
}

}  // namespace heed::models
