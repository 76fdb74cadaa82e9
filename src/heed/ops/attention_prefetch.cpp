#include "heed/ops/attention_prefetch.h"

namespace heed::ops {

void prefetch_queries(const AttentionPlan& plan, const Tensor& x, Index sequence, Index group,
                      Index width) {
  const Index heads_per_group = plan.sizes.heads_per_group();
  const Index count = plan.query.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::prefetch_rows(plan.query_rows(x, sequence, group * heads_per_group, width), 0, count,
                         count, heads_per_group * width);
}

void prefetch_keys(const AttentionPlan& plan, const Tensor& x, Index sequence, Index group,
                   Index width) {
  const Index count = plan.key.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::prefetch_rows(plan.key_rows(x, sequence, group, width), 0, count, count, width);
}

void prefetch_inputs(const AttentionPlan& plan, Index sequence, Index group) {
  prefetch_queries(plan, plan.query.values, sequence, group, plan.sizes.key_dim);
  prefetch_keys(plan, plan.key.values, sequence, group, plan.sizes.key_dim);
  prefetch_keys(plan, plan.value, sequence, group, plan.sizes.value_dim);
}

void prefetch_next_sequence(const AttentionPlan& plan, const AttentionPiece& piece,
                            const Tensor& output) {
  const Index next = piece.sequence + 1, group = plan.sizes.group_of(piece.head);
  const bool is_first_of_group = piece.head % plan.sizes.heads_per_group() == 0;
  if (!is_first_of_group || next >= plan.query.spans.count()) return;
  prefetch_inputs(plan, next, group);
  prefetch_queries(plan, output, next, group, plan.sizes.value_dim);
}

}  // namespace heed::ops
