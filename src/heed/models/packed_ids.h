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
  // The type of each token, for models with token types. Empty: all 0.
  std::vector<int> types = {};
};

// The tokens of one sequence, and their types or none.
struct TokenSequence {
  std::span<const int> ids;
  std::span<const int> types = {};
};

// Tokens that each sequence gets besides its own. They have the type of their neighbour, or 0.
struct ExtraTokens {
  std::optional<int> prepend = {};
  std::optional<int> append = {};
};

// Types of any sequence give types to all.
PackedIds pack(std::span<const TokenSequence> sequences, const ExtraTokens& extra = {});
PackedIds pack(std::span<const std::span<const int>> sequences, const ExtraTokens& extra = {});
PackedIds pack(std::span<const std::vector<int>> sequences, const ExtraTokens& extra = {});

// The same sequences, each after this token.
PackedIds prepend(int id, const PackedIds& input);

}  // namespace heed::models
