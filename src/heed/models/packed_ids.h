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
struct TokensAround {
  std::optional<int> before = {};
  std::optional<int> behind = {};
};

PackedIds pack(std::span<const std::span<const int>> sequences, const TokensAround& around = {});
PackedIds pack(std::span<const std::vector<int>> sequences, const TokensAround& around = {});

}  // namespace heed::models
