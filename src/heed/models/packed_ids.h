// Token ids of several sequences, end to end.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heed/core/spans.h"

namespace heed::models {

struct PackedIds {
  std::vector<int> ids;
  Spans spans;
};

// Tokens that each sequence gets besides its own.
struct ExtraTokens {
  std::optional<int> prepend = {};
  std::optional<int> append = {};
};

PackedIds pack(std::span<const std::span<const int>> sequences, const ExtraTokens& extra = {});
PackedIds pack(std::span<const std::vector<int>> sequences, const ExtraTokens& extra = {});

}  // namespace heed::models
