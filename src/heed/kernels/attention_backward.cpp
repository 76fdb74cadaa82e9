#include <algorithm>
#include <cmath>

#include "heed/base/index.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_workspace.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_block-inl.h"
#include "heed/kernels/online_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// From dscores of capped scores to those of the raw ones: the derivative of c tanh(s / c) is
// 1 - tanh(s / c)^2, where s is the raw score times the scale. A masked cell keeps its 0, even if
// its score is NaN.
HWY_INLINE void CapBackward(float* dscores, const float* raw, const AttentionRule& rule,
                            Index keys) {
  const FloatTag d;
  const auto factor = hn::Set(d, rule.scale / rule.softcap), one = hn::Set(d, 1.0f);
  Map(dscores, dscores, raw, keys, [factor, one](auto g, auto score) HWY_ATTR {
    const auto t = Tanh(hn::Mul(score, factor));
    const auto slope = hn::NegMulAdd(t, t, one);
    return hn::IfThenElseZero(hn::Ne(g, hn::Zero(FloatTag())), hn::Mul(g, slope));
  });
}

// What one query's row of scores needs to become weights and dscores.
struct RowBackward {
  float deferred_scale;
  float logsumexp;
  float delta;
  float scale;
};

// A row of scores becomes weights P = e^(score * deferred_scale - logsumexp), and dweights dP
// become dscores P * (dP - delta) * scale. Masked cells have 0 in both, whatever dweights holds,
// and so has a query that sees nothing.
HWY_INLINE void RecomputeWeights(float* scores, float* dweights, Index count,
                                 const RowBackward& row) {
  if (row.logsumexp == -HUGE_VALF) {
    std::fill(scores, scores + count, 0.0f);
    std::fill(dweights, dweights + count, 0.0f);
    return;
  }
  const FloatTag d;
  const auto deferred_scale = hn::Set(d, row.deferred_scale);
  const auto logsumexp = hn::Set(d, row.logsumexp);
  const auto delta = hn::Set(d, row.delta), scale = hn::Set(d, row.scale);
  for (Index j = 0; j < count; j += hn::Lanes(d)) {
    const auto weights = Weights(hn::Load(d, scores + j), deferred_scale, logsumexp);
    const auto difference = hn::Sub(hn::Load(d, dweights + j), delta);
    const auto dscores = hn::Mul(hn::Mul(weights, difference), scale);
    hn::Store(weights, d, scores + j);
    hn::Store(hn::IfThenElseZero(hn::Ne(weights, hn::Zero(d)), dscores), d, dweights + j);
  }
}

void AttentionDeltas(const RowsOut& deltas, const RowsView& doutput, const RowsView& output,
                     Index queries, Index value_dim) {
  for (Index i = 0; i < queries; ++i) {
    *deltas.row(i) = SumOf(doutput.row(i), output.row(i), value_dim,
                           [](auto g, auto o) HWY_ATTR { return hn::Mul(g, o); });
  }
}

HWY_INLINE void ClearRows(const RowsOut& rows, Index count, Index width) {
  for (Index i = 0; i < count; ++i) std::fill_n(rows.row(i), width, 0.0f);
}

// to = from, or += with accumulate.
HWY_INLINE void PutRows(const RowsOut& to, const RowsOut& from, Index count, Index width,
                        bool accumulate) {
  for (Index i = 0; i < count; ++i) {
    if (accumulate) {
      Map(to.row(i), to.row(i), from.row(i), width,
          [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
    } else {
      std::copy_n(from.row(i), width, to.row(i));
    }
  }
}

// The gradients of one head, block of keys by block of keys. With the weights P = softmax(S) and
// S = scale Q K^T: dV = P^T dO, dP = dO V^T, dS = P * (dP - delta), dQ = scale dS K and
// dK = scale dS^T Q (Dao and others 2022, algorithm 4). The dscores of the code are scale dS.
class BackwardPass {
 public:
  BackwardPass(const AttentionGradients& gradients, const AttentionInput& input,
               const AttentionSaved& saved, const AttentionRule& rule, float* memory)
      : gradients_(gradients),
        query_(input.query),
        key_(input.key.consecutive()),
        value_(input.value.consecutive()),
        sizes_(input.sizes),
        saved_(saved),
        rule_(rule),
        work_(memory, sizes_.key_dim, sizes_.value_dim) {}

  void Run() {
    if (sizes_.keys == 0) ClearRows(gradients_.dquery, sizes_.queries, sizes_.key_dim);
    for (Index from = 0; from < sizes_.keys; from += backward_block.keys) AddKeys(from);
  }

 private:
  // One block of keys, and where its gradients are summed.
  struct KeyBlock {
    Index from, keys;
    OperandB key_rows;
    RowsOut dkeys, dvalues;
    bool has_sums;  // are there dkeys and dvalues to add to?
  };

  void AddKeys(Index from) {
    const Index keys = std::min(backward_block.keys, sizes_.keys - from);
    const Index key_dim = sizes_.key_dim, value_dim = sizes_.value_dim;
    PackColumns(work_.key_columns, key_.from(from), keys, key_dim);
    PackColumns(work_.value_columns, value_.from(from), keys, value_dim);
    const RowsOut dkey = gradients_.dkey.from(from), dvalue = gradients_.dvalue.from(from);
    // Several blocks of queries sum their shares of dkey and dvalue up in L1 and L2 first.
    const bool is_one_block = sizes_.queries <= backward_block.queries;
    KeyBlock block{from,
                   keys,
                   PackRows(work_.key_rows, key_.from(from), keys, key_dim),
                   is_one_block ? dkey : RowsOut{work_.dkeys, padded_width(key_dim)},
                   is_one_block ? dvalue : RowsOut{work_.dvalues, padded_width(value_dim)},
                   /*has_sums=*/is_one_block && gradients_.accumulate};

    for (Index at = 0; at < sizes_.queries; at += backward_block.queries) AddQueries(block, at);
    if (!block.has_sums) {
      ClearRows(block.dkeys, keys, key_dim);
      ClearRows(block.dvalues, keys, value_dim);
    }
    if (is_one_block) return;
    PutRows(dkey, block.dkeys, keys, key_dim, gradients_.accumulate);
    PutRows(dvalue, block.dvalues, keys, value_dim, gradients_.accumulate);
  }

  void AddQueries(KeyBlock& key_block, Index at) {
    const Index from = key_block.from, keys = key_block.keys;
    const Index rows = std::min(backward_block.queries, sizes_.queries - at);
    const KeyRange visible = visible_keys(rule_, at, at + rows, sizes_.keys);
    if (!visible.overlaps({from, from + keys})) {
      if (from == 0) ClearRows(gradients_.dquery.from(at), rows, sizes_.key_dim);
      return;
    }
    const OperandB queries = CopyRows(work_.queries, query_.from(at), rows, sizes_.key_dim);
    const OperandB doutputs =
        CopyRows(work_.doutputs, saved_.doutput.from(at), rows, sizes_.value_dim);
    const ScoreBlock block{.scores = work_.weights,
                           .stride = backward_stride,
                           .first_query = at,
                           .rows = rows,
                           .first_key = from,
                           .keys = keys};
    for (Index i = 0; i < rows; i += backward_part) {
      ScoreBlock part = block;
      part.scores = block.row(i);
      part.first_query = at + i;
      part.rows = std::min(backward_part, rows - i);
      MakeWeights(part, queries.rows.from(i), doutputs.rows.from(i),
                  {work_.dweights + i * backward_stride, backward_stride});
    }
    AddGradients(key_block, block, queries, doutputs);
    key_block.has_sums = true;
  }

  // Scores, then weights and dscores, of a part of the queries.
  void MakeWeights(const ScoreBlock& part, const RowsView& queries, const RowsView& doutputs,
                   const RowsOut& dweights) {
    const Index next = part.first_query + backward_block.queries;
    prefetch_rows(query_, next, next + part.rows, sizes_.queries, sizes_.key_dim);
    prefetch_rows(saved_.doutput, next, next + part.rows, sizes_.queries, sizes_.value_dim);

    const Index columns = part.whole_vectors();
    GemmPanels({part.scores, part.stride}, queries, work_.key_columns,
               {part.rows, columns, sizes_.key_dim});
    GemmPanels(dweights, doutputs, work_.value_columns, {part.rows, columns, sizes_.value_dim});
    const float deferred_scale = ApplyRule(part, rule_, sizes_.keys, nullptr);
    for (Index i = 0; i < part.rows; ++i) {
      const Index query = part.first_query + i;
      if (rule_.has_dropout) {
        DropWeights(dweights.row(i), query, part.first_key, part.keys, rule_);
      }
      RecomputeWeights(
          part.row(i), dweights.row(i), columns,
          {deferred_scale, *saved_.logsumexp.row(query), *saved_.deltas.row(query), rule_.scale});
      if (gradients_.ddistance_bias) {
        AddDistanceGradient(gradients_.ddistance_bias, dweights.row(i), query, part.first_key,
                            part.keys, rule_);
      }
      if (rule_.has_dropout) {
        DropWeights(part.row(i), query, part.first_key, part.keys, rule_);
      }
    }
  }

  // From the weights and dscores of a block to dvalue, dquery and dkey.
  void AddGradients(const KeyBlock& key_block, const ScoreBlock& block, const OperandB& queries,
                    const OperandB& doutputs) {
    const Index keys = block.keys, key_dim = sizes_.key_dim, value_dim = sizes_.value_dim;
    const MatrixView weights_transposed{work_.weights, 1, backward_stride};
    const MatrixView dscores{work_.dweights, backward_stride, 1};
    const MatrixView dscores_transposed{work_.dweights, 1, backward_stride};
    Multiply(key_block.dvalues, weights_transposed, doutputs, {keys, value_dim, block.rows},
             key_block.has_sums);
    if (rule_.softcap > 0) CapBlock(block, queries.rows);
    Multiply(gradients_.dquery.from(block.first_query), dscores, key_block.key_rows,
             {block.rows, key_dim, keys}, /*accumulate=*/block.first_key > 0);
    Multiply(key_block.dkeys, dscores_transposed, queries, {keys, key_dim, block.rows},
             key_block.has_sums);
  }

  // The weights are used up: their memory holds the raw scores once more.
  void CapBlock(const ScoreBlock& block, const RowsView& queries) {
    GemmPanels({block.scores, block.stride}, queries, work_.key_columns,
               {block.rows, block.whole_vectors(), sizes_.key_dim});
    for (Index i = 0; i < block.rows; ++i) {
      CapBackward(work_.dweights + i * backward_stride, block.row(i), rule_, block.whole_vectors());
    }
  }

  const AttentionGradients& gradients_;
  RowsView query_, key_, value_;
  const AttentionSizes& sizes_;
  const AttentionSaved& saved_;
  const AttentionRule& rule_;
  BackwardWorkspace work_;
};

void AttentionBackward(const AttentionGradients& gradients, const AttentionInput& input,
                       const AttentionSaved& saved, const AttentionRule& rule, float* memory) {
  BackwardPass(gradients, input, saved, rule, memory).Run();
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(AttentionDeltas);
HWY_EXPORT(AttentionBackward);

void attention_deltas(RowsOut deltas, RowsView doutput, RowsView output, Index queries,
                      Index value_dim) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionDeltas)(deltas, doutput, output, queries, value_dim);
}

void attention_backward(const AttentionGradients& gradients, const AttentionInput& input,
                        const AttentionSaved& saved, const AttentionRule& rule,
                        float* workspace) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionBackward)(gradients, input, saved, rule, workspace);
}

}  // namespace heed::kernels
#endif
