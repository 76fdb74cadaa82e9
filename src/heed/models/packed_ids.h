#pragma once

#include <vector>

#include "heed/core/spans.h"

namespace heed::models {

// Token ids of several sequences, end to end.
struct PackedIds {
  std::vector<int> ids;
  Spans spans;
};

}  // namespace heed::models
