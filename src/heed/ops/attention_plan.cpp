#include "heed/ops/attention_plan.h"

#include <algorithm>

namespace heed::ops {
namespace {

// Rows of a span, and columns of one head.
template <typename Rows, typename T>
Rows head_rows(T& x, const Span& span, Index head, Index width) {
  return {x.data() + span.begin * x.dim(1) + head * width, x.dim(1)};
}

// The columns of a matrix, one after another.
std::vector<float> columns_of(const Tensor& x) {
  std::vector<float> columns;
  for (Index j = 0; j < x.dim(1); ++j) {
    for (Index i = 0; i < x.dim(0); ++i) columns.push_back(x.values()[i * x.dim(1) + j]);
  }
  return columns;
}

}  // namespace

kernels::AttentionRule AttentionPlan::rule(Index sequence, Index head) const {
  kernels::AttentionRule rule;
  rule.scale = scale;
  rule.softcap = options.softcap;
  rule.alibi_slope = options.alibi_slopes.empty() ? 0 : options.alibi_slopes[head];
  if (!distance_bias.empty()) {
    rule.distance_bias = distance_bias.data() + head * num_distances();
    rule.max_distance = num_distances() / 2;
  }
  rule.is_causal = mask.causal;
  rule.window = mask.window;
  rule.past = options.past.empty() ? 0 : options.past[sequence];
  if (mask.dense) {
    rule.dense = mask.dense->values.data() + sequence * mask.dense->sequence_stride +
                 head * mask.dense->head_stride;
    rule.dense_stride = mask.dense->query_stride;
  }
  rule.dropout = kernels::dropout_rule(options.dropout.probability, options.dropout.key);
  rule.has_dropout = rule.dropout.threshold > 0;
  rule.first_dropout_row = query.spans[sequence].begin * sizes.heads + head;
  rule.dropout_row_step = sizes.heads;
  return rule;
}

kernels::AttentionSizes AttentionPlan::sizes_of(Index sequence) const {
  return {query.spans[sequence].length, key.spans[sequence].length, sizes.key_dim, sizes.value_dim};
}

kernels::AttentionInput AttentionPlan::input(Index sequence, Index head) const {
  const Index group = sizes.group_of(head);
  return {query_rows(query.values, sequence, head, sizes.key_dim),
          key_rows(key.values, sequence, group, sizes.key_dim),
          key_rows(value, sequence, group, sizes.value_dim), sizes_of(sequence)};
}

kernels::RowsView AttentionPlan::query_rows(const Tensor& x, Index sequence, Index head,
                                            Index width) const {
  return head_rows<kernels::RowsView>(x, query.spans[sequence], head, width);
}

kernels::RowsOut AttentionPlan::query_rows_out(Tensor& x, Index sequence, Index head,
                                               Index width) const {
  return head_rows<kernels::RowsOut>(x, query.spans[sequence], head, width);
}

kernels::PagedRows AttentionPlan::key_rows(const Tensor& x, Index sequence, Index group,
                                           Index width) const {
  if (paged == nullptr) {
    return head_rows<kernels::RowsView>(x, key.spans[sequence], group, width);
  }
  const Index page_size = kernels::attention_page_rows * width;
  const Index head_size = x.dim(1) * page_size;
  return {x.data() + group * head_size, width, page_size, paged->pages[sequence].data()};
}

kernels::RowsOut AttentionPlan::key_rows_out(Tensor& x, Index sequence, Index group,
                                             Index width) const {
  return head_rows<kernels::RowsOut>(x, key.spans[sequence], group, width);
}

AttentionPlan make_plan(const Packed& query, const Packed& key, const Tensor& value,
                        const AttentionSizes& sizes, const AttentionMask& mask,
                        const AttentionOptions& options) {
  if (mask.dense) check_dense(*mask.dense, query, key, sizes.heads);
  AttentionPlan plan{{query.values.detach(), query.spans},
                     {key.values.detach(), key.spans},
                     value.detach(),
                     sizes,
                     mask,
                     options,
                     options.scale.value_or(default_scale(options.similarity, sizes.key_dim))};
  if (!mask.distance_bias.is_defined()) return plan;
  check_distance_bias(mask.distance_bias, sizes.heads, plan.scale);
  plan.distance_bias = columns_of(mask.distance_bias);
  plan.mask.distance_bias = {};  // which may need a gradient
  return plan;
}

std::vector<AttentionPiece> forward_pieces(const AttentionPlan& plan) {
  std::vector<AttentionPiece> pieces;
  for (Index s = 0; s < plan.query.spans.count(); ++s) {
    const Index queries = plan.query.spans[s].length;
    for (Index first = 0; first < queries; first += kernels::attention_max_queries) {
      const Index last = std::min(queries, first + kernels::attention_max_queries);
      for (Index head = 0; head < plan.sizes.heads; ++head) {
        pieces.push_back({s, head, {first, last}});
      }
    }
  }
  return pieces;
}

Index pieces_per_range(const AttentionPlan& plan, Index num_pieces) {
  constexpr Index min_range_work = 1 << 16;  // multiply-adds
  Index cells = 0;
  for (Index s = 0; s < plan.query.spans.count(); ++s) {
    cells += plan.query.spans[s].length * plan.key.spans[s].length;
  }
  const Index work = cells * plan.sizes.heads * (plan.sizes.key_dim + plan.sizes.value_dim);
  return std::max<Index>(1, min_range_work * num_pieces / std::max<Index>(work, 1));
}

}  // namespace heed::ops
