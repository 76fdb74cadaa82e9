// The lengths of the texts of a corpus, in tokens with the end token.
#pragma once

#include <vector>

#include "heed/base/index.h"

namespace heed::data {

// By nearest rank: at least 50 %, 95 %, 99 % of the texts are at most so long.
struct TextLengths {
  Index median = 0;
  Index percentile_95 = 0;
  Index percentile_99 = 0;
  Index max = 0;

  friend bool operator==(const TextLengths&, const TextLengths&) = default;
};

// Zeros for no lengths at all.
TextLengths summarize_lengths(std::vector<Index> lengths);

}  // namespace heed::data
