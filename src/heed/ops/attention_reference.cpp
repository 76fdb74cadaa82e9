// Attention as its formula, of small differentiable operations on whole matrices.
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/ops/attention.h"
#include "heed/ops/attention_checks.h"
#include "heed/ops/embedding.h"
#include "heed/ops/matmul.h"
#include "heed/ops/operators.h"
#include "heed/ops/softmax.h"

namespace heed::ops {
namespace {

Tensor slice_rows(const Tensor& x, const Span& span) {
  std::vector<Index> rows;
  for (Index i = 0; i < span.length; ++i) rows.push_back(span.begin + i);
  return gather_rows(x, rows);
}

// [rows, cols] with ones where the row is `first` + the column: x S picks columns of x, S x puts
// rows of x at `first`, and S^T undoes either.
Tensor selection(Index rows, Index cols, Index first) {
  Tensor s = Tensor::zeros({rows, cols});
  for (Index i = 0; i < cols; ++i) s.data()[(first + i) * cols + i] = 1;
  return s;
}

Tensor slice_columns(const Tensor& x, Index first, Index width) {
  return matmul(x, selection(x.dim(1), width, first));
}

// x [rows, cols] as a part of a matrix of zeros of `shape`, from (row, column) on.
Tensor pad_to(const Tensor& x, const Shape& shape, Index row, Index column) {
  const Tensor left = selection(shape[0], x.dim(0), row);
  const Tensor right = selection(shape[1], x.dim(1), column);
  return matmul(left, matmul(x, right, {.transpose_b = true}));
}

// The bias of the scores: minus infinity where a cell is masked, ALiBi and the dense mask.
Tensor bias_matrix(const AttentionMask& mask, const AttentionOptions& options, Index sequence,
                   Index head, const Shape& shape) {
  Tensor bias = Tensor::zeros(shape);
  for (Index i = 0; i < shape[0]; ++i) {
    for (Index j = 0; j < shape[1]; ++j) {
      float& cell = bias.data()[i * shape[1] + j];
      const Index distance = std::abs(i - j);
      if (!options.alibi_slopes.empty()) {
        cell -= options.alibi_slopes[head] * static_cast<float>(distance);
      }
      if (mask.dense) {
        const DenseMask& dense = *mask.dense;
        cell += dense.values[sequence * dense.sequence_stride + head * dense.head_stride +
                             i * dense.query_stride + j];
      }
      const bool is_hidden = (mask.causal && j > i) || (mask.window > 0 && distance >= mask.window);
      if (is_hidden) cell = -std::numeric_limits<float>::infinity();
    }
  }
  return bias;
}

// Q [queries, K], K [keys, K], V [keys, J] of one head: softmax(similarity(Q, K) * scale + B) V.
Tensor attention_of_head(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                         const AttentionOptions& options) {
  const float factor = options.scale.value_or(default_scale(options.similarity, q.dim(1)));
  const bool is_cosine = options.similarity == Similarity::cosine;
  const Tensor scores = factor * (is_cosine ? cosine_similarity(q, k) : dot_similarity(q, k));
  const Tensor weights = softmax(scores + bias);
  return matmul(weights, v);
}

}  // namespace

Tensor attention_reference(const Packed& query, const Packed& key, const Tensor& value,
                           const AttentionMask& mask, const AttentionOptions& options) {
  const AttentionSizes sizes = checked_sizes(query, key, value, options);
  check(options.past.empty() && options.dropout.probability == 0 && options.softcap == 0 &&
            !mask.distance_bias.is_defined(),
        "attention_reference: no past, dropout, softcap or bias by distance");
  Tensor output = Tensor::zeros({query.values.dim(0), sizes.heads * sizes.value_dim});
  for (Index s = 0; s < query.spans.count(); ++s) {
    const Tensor q_rows = slice_rows(query.values, query.spans[s]);
    const Tensor k_rows = slice_rows(key.values, key.spans[s]);
    const Tensor v_rows = slice_rows(value, key.spans[s]);
    for (Index head = 0; head < sizes.heads; ++head) {
      const Index group = sizes.group_of(head);
      const Tensor q = slice_columns(q_rows, head * sizes.key_dim, sizes.key_dim);
      const Tensor k = slice_columns(k_rows, group * sizes.key_dim, sizes.key_dim);
      const Tensor v = slice_columns(v_rows, group * sizes.value_dim, sizes.value_dim);
      const Tensor bias = bias_matrix(mask, options, s, head, {q.dim(0), k.dim(0)});
      const Tensor y = attention_of_head(q, k, v, bias, options);
      output = output + pad_to(y, output.shape(), query.spans[s].begin, head * sizes.value_dim);
    }
  }
  return output;
}

}  // namespace heed::ops
