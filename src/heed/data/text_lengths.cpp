#include "heed/data/text_lengths.h"

#include <algorithm>

namespace heed::data {

TextLengths summarize_lengths(std::vector<Index> lengths) {
  if (lengths.empty()) return {};
  const auto percentile = [&](Index percent) {
    const Index rank = (std::ssize(lengths) * percent + 99) / 100;  // from 1
    const auto at = lengths.begin() + (rank - 1);
    std::nth_element(lengths.begin(), at, lengths.end());
    return *at;
  };
  return {percentile(50), percentile(95), percentile(99), percentile(100)};
}

}  // namespace heed::data
