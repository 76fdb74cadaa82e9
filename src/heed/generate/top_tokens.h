// The most likely next tokens of one hypothesis.
#pragma once

#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed::generate {

struct TokenScore {
  int token = 0;
  float log_probability = 0;
};

// The `count` largest of the vocabulary's log-probabilities, largest first, equal ones by token.
// Leaves out the tokens of `never` (sorted), and what is minus infinity or NaN, so there may be
// fewer.
std::vector<TokenScore> top_tokens(std::span<const float> log_probabilities, Index count,
                                   std::span<const int> never);

}  // namespace heed::generate
