// Prefetching of attention: the rows of a sequence and key/value head are prefetched while the
// previous sequence is computed, unless they are so many that the kernels prefetch them block by
// block.
#pragma once

#include "heed/ops/attention_plan.h"

namespace heed::ops {

// Rows of a tensor like the query, [N, H * width], in all heads of the group; or like the key.
void prefetch_queries(const AttentionPlan& plan, const Tensor& x, Index sequence, Index group,
                      Index width);
void prefetch_keys(const AttentionPlan& plan, const Tensor& x, Index sequence, Index group,
                   Index width);

// Query, key and value.
void prefetch_inputs(const AttentionPlan& plan, Index sequence, Index group);

// For the sequence after that of a piece of the forward. The first head of a group does it for all.
void prefetch_next_sequence(const AttentionPlan& plan, const AttentionPiece& piece,
                            const Tensor& output);

}  // namespace heed::ops
