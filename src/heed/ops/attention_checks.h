// Checks of the arguments of `attention`. Messages name the operation, what it expected and what it
// got.
#pragma once

#include "heed/ops/attention.h"

namespace heed::ops {

struct AttentionSizes {
  Index heads, groups;       // H query heads over G key/value heads
  Index key_dim, value_dim;  // K and J

  Index heads_per_group() const { return heads / groups; }
  Index group_of(Index head) const { return head / heads_per_group(); }
};

AttentionSizes checked_sizes(const Packed& query, const Packed& key, const Tensor& value,
                             const AttentionOptions& options);
AttentionSizes checked_sizes(const Packed& query, const PagedKeys& memory, const Spans& keys,
                             const AttentionOptions& options);

// The sequences' lengths as spans; the pages say where their rows are.
Spans checked_spans(const PagedKeys& memory);

// Refuses a dense mask that has too few values.
void check_dense(const DenseMask& mask, const Packed& query, const Packed& key, Index heads);

// Refuses a bias by distance of other heads, or with a scale of 0, which hides its gradient.
void check_distance_bias(const Tensor& bias, Index heads, float scale);

// Refuses sequences that share keys: they would add to the same gradients at the same time.
void check_no_shared_keys(const Spans& keys);

}  // namespace heed::ops
