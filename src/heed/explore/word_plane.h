// Attention of a few words in a plane, with every number on the way from vectors to contexts.
#pragma once

#include <vector>

#include "heed/core/tensor.h"
#include "heed/ops/similarity.h"

namespace heed::explore {

struct PlaneHead {
  Tensor query, key, value;  // [2, 2] each
};

struct WordPlane {
  Tensor words;  // [N, 2]
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  std::vector<PlaneHead> heads = {};
  Tensor output = {};              // [2 * heads, 2]; undefined: none, which takes one head
  std::vector<bool> may_see = {};  // [N * N], query by key; empty: every word sees every word
};

// One head's arithmetic, as the engine did it.
struct PlaneHeadSteps {
  Tensor queries, keys, values;  // [N, 2]
  Tensor products;               // [N, N, 2], q_i k_i; of the unit vectors for the cosine
  float scale = 1;               // the sum of the products, times this, is the similarity
  Tensor similarities;           // [N, N]
  Tensor masked;                 // [N, N], minus infinity where masked
  Tensor row_max;                // [N], minus infinity for a word that sees nothing
  Tensor exps;                   // [N, N], e^(masked - row_max)
  Tensor row_sums;               // [N]
  Tensor weights;                // [N, N]
  Tensor pulls;                  // [N, N, 2], weight times value: the pull of key on query
  Tensor contexts;               // [N, 2]
};

struct PlaneAttention {
  std::vector<PlaneHeadSteps> heads;
  Tensor concatenated;  // [N, 2 * heads]
  Tensor outputs;       // [N, 2]
};

// All heads in one call of ops::attention, as in a model.
PlaneAttention attend_in_plane(const WordPlane& plane);

}  // namespace heed::explore
