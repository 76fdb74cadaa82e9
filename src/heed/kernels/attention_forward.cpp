#include <algorithm>

#include "heed/base/index.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_workspace.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_block-inl.h"
#include "heed/kernels/online_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

HWY_INLINE void WriteWeights(const AttentionRecord& record, const OnlineSoftmax* running,
                             const QueryRange& queries, Index keys) {
  const FloatTag d;
  for (Index query = queries.first; query < queries.last; ++query, ++running) {
    float* weights = record.weights + query * keys;
    if (running->sees_nothing()) {
      std::fill(weights, weights + keys, 0.0f);
      continue;
    }
    const auto shift = hn::Set(d, running->max), factor = hn::Set(d, 1 / running->sum);
    Map(weights, record.masked + query * keys, keys, [d, shift, factor](auto v) HWY_ATTR {
      return hn::Mul(ExpNegative(d, hn::Sub(v, shift)), factor);
    });
  }
}

HWY_INLINE void RecordSoftmax(const AttentionRecord& record, const OnlineSoftmax* running,
                              const QueryRange& queries, Index keys) {
  for (Index query = queries.first; query < queries.last; ++query) {
    if (record.maxima) record.maxima[query] = running[query - queries.first].max;
    if (record.sums) record.sums[query] = running[query - queries.first].sum;
  }
  if (record.weights) WriteWeights(record, running, queries, keys);
}

// Attention of some queries of one head, block of keys by block of keys.
class ForwardPass {
 public:
  ForwardPass(const AttentionInput& input, const AttentionRule& rule, const QueryRange& range,
              const AttentionRecord* record, float* memory)
      : input_(input),
        sizes_(input.sizes),
        rule_(rule),
        range_(range),
        record_(record),
        work_(memory, sizes_.key_dim, sizes_.value_dim),
        mixed_{work_.mixed, padded_width(sizes_.value_dim)},
        queries_(CopyRows(work_.queries, input.query.from(range.first), range.last - range.first,
                          sizes_.key_dim)
                     .rows) {
    std::fill(work_.mixed, mixed_.row(range.last - range.first), 0.0f);
  }

  void Run() {
    // Blocks that no query sees are skipped, unless a record takes their scores.
    const KeyRange keys = record_ ? KeyRange{0, sizes_.keys}
                                  : visible_keys(rule_, range_.first, range_.last, sizes_.keys);
    for (Index from = keys.first / forward_block.keys * forward_block.keys; from < keys.last;
         from += forward_block.keys) {
      AddKeys(from);
    }
  }

  void Finish(const AttentionOutput& output) const {
    if (record_) RecordSoftmax(*record_, running_, range_, sizes_.keys);
    for (Index query = range_.first; query < range_.last; ++query) {
      const Index i = query - range_.first;
      FinishSoftmax(output.output.row(query), output.logsumexp.row(query), running_[i],
                    mixed_.row(i), sizes_.value_dim);
    }
  }

 private:
  // All queries with one block of keys.
  void AddKeys(Index from) {
    const Index keys = std::min(forward_block.keys, sizes_.keys - from);
    const auto rows_of = [&](const PagedRows& rows, Index width) {
      return WithoutPages(work_.page_rows, rows.from(from), keys, width);
    };
    PackColumns(work_.keys, rows_of(input_.key, sizes_.key_dim), keys, sizes_.key_dim);
    const OperandB values =
        PackRows(work_.values, rows_of(input_.value, sizes_.value_dim), keys, sizes_.value_dim);
    // Each block of queries prefetches its share of the keys and values after these.
    const Index num_blocks = quotient_up(range_.last - range_.first, forward_block.queries);
    const Index share = quotient_up(forward_block.keys, num_blocks);
    Index next = from + forward_block.keys;
    for (Index at = range_.first; at < range_.last; at += forward_block.queries) {
      const Index rows = std::min(forward_block.queries, range_.last - at);
      const KeyRange visible = visible_keys(rule_, at, at + rows, sizes_.keys);
      if (!record_ && !visible.overlaps({from, from + keys})) continue;
      prefetch_rows(input_.key, next, next + share, sizes_.keys, sizes_.key_dim);
      prefetch_rows(input_.value, next, next + share, sizes_.keys, sizes_.value_dim);
      next += share;
      AddBlock({.scores = work_.scores,
                .stride = forward_block.keys,
                .first_query = at,
                .rows = rows,
                .first_key = from,
                .keys = keys},
               values);
    }
  }

  // Scores, softmax and weights x values of one block of queries and one of keys.
  void AddBlock(const ScoreBlock& block, const OperandB& values) {
    const Index first = block.first_query - range_.first;
    const RowsOut scores{block.scores, block.stride};
    GemmPanels(scores, queries_.from(first), work_.keys,
               {block.rows, block.whole_vectors(), sizes_.key_dim});
    const float scale = ApplyRule(block, rule_, sizes_.keys, record_);
    for (Index i = 0; i < block.rows; ++i) {
      const float rescale = UpdateSoftmax(running_[first + i], block.row(i), block.keys, scale);
      if (rescale != 1) ScaleRow(mixed_.row(first + i), rescale, sizes_.value_dim);
      if (rule_.has_dropout) {
        DropWeights(block.row(i), block.first_query + i, block.first_key, block.keys, rule_);
      }
    }
    Multiply(mixed_.from(first), RowsView{block.scores, block.stride}, values,
             {block.rows, sizes_.value_dim, block.keys}, /*accumulate=*/true);
  }

  static HWY_INLINE void ScaleRow(float* row, float factor, Index count) {
    const auto f = hn::Set(FloatTag(), factor);
    Map(row, row, count, [f](auto v) HWY_ATTR { return hn::Mul(v, f); });
  }

  const AttentionInput& input_;
  const AttentionSizes& sizes_;
  const AttentionRule& rule_;
  QueryRange range_;
  const AttentionRecord* record_;
  ForwardWorkspace work_;
  RowsOut mixed_;     // weights x values so far, [queries, value_dim]
  RowsView queries_;  // [queries, key_dim]
  OnlineSoftmax running_[attention_max_queries];
};

void Attention(const AttentionOutput& output, const AttentionInput& input,
               const AttentionRule& rule, const QueryRange& queries, const AttentionRecord* record,
               float* memory) {
  ForwardPass pass(input, rule, queries, record, memory);
  pass.Run();
  pass.Finish(output);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Attention);

Index attention_workspace(Index key_dim, Index value_dim) noexcept {
  return std::max(ForwardWorkspace(nullptr, key_dim, value_dim).parts.size(),
                  BackwardWorkspace(nullptr, key_dim, value_dim).parts.size());
}

void attention(const AttentionOutput& output, const AttentionInput& input,
               const AttentionRule& rule, const QueryRange& queries, const AttentionRecord* record,
               float* workspace) noexcept {
  HWY_DYNAMIC_DISPATCH(Attention)(output, input, rule, queries, record, workspace);
}

}  // namespace heed::kernels
#endif
