// Attention as plain loops in double precision: one sequence, one head, one query after another.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/ops/attention.h"
#include "support/reference.h"

namespace heed::reference {

// What dropout does to the weight of one cell: 0, or 1 / (1 - p).
using WeightFactor = std::function<double(Index sequence, Index head, Index query, Index key)>;

struct AttentionProblem {
  Spans query_spans;
  Spans key_spans;
  ops::AttentionMask mask = {};
  ops::AttentionOptions options = {};
  WeightFactor weight_factor = nullptr;  // none: every weight stays
};

namespace detail {

struct Cell {
  Index sequence, head, query, key;
};

// What is added to the score of a cell; minus infinity where the query may not see the key.
inline double added_to_score(const AttentionProblem& problem, const Cell& cell) {
  const ops::AttentionMask& mask = problem.mask;
  const ops::AttentionOptions& options = problem.options;
  const Index past = options.past.empty() ? 0 : options.past[cell.sequence];
  const Index ahead = cell.key - (cell.query + past);
  const double masked = -std::numeric_limits<double>::infinity();
  if (mask.causal && ahead > 0) return masked;
  if (mask.window > 0 && std::abs(ahead) >= mask.window) return masked;

  double added = 0;
  if (mask.dense) {
    added += mask.dense->values[cell.sequence * mask.dense->sequence_stride +
                                cell.head * mask.dense->head_stride +
                                cell.query * mask.dense->query_stride + cell.key];
  }
  if (!options.alibi_slopes.empty()) {
    added -= options.alibi_slopes[cell.head] * static_cast<double>(std::abs(ahead));
  }
  return added;
}

// The similarity of `width` numbers of a row of q and of a row of k, scaled and capped.
template <typename T>
T score(const Matrix<T>& q, Index q_row, Index q_begin, const Matrix<T>& k, Index k_row,
        Index k_begin, Index width, const ops::AttentionOptions& options) {
  using std::sqrt, std::tanh;
  T dot(0.0), q_square(0.0), k_square(0.0);
  const bool is_cosine = options.similarity == ops::Similarity::cosine;
  for (Index c = 0; c < width; ++c) {
    const T& x = q(q_row, q_begin + c);
    const T& y = k(k_row, k_begin + c);
    dot += x * y;
    if (!is_cosine) continue;
    q_square += x * x;
    k_square += y * y;
  }
  if (is_cosine) {
    const bool is_zero = value_of(q_square) == 0 || value_of(k_square) == 0;
    dot = is_zero ? T(0.0) : dot / (sqrt(q_square) * sqrt(k_square));
  }
  const bool is_scaled = options.similarity == ops::Similarity::scaled_dot;
  const double own_scale = is_scaled ? 1 / std::sqrt(static_cast<double>(width)) : 1.0;
  const T scaled = dot * T(options.scale ? *options.scale : own_scale);
  if (options.softcap == 0) return scaled;
  const T cap(options.softcap);
  return cap * tanh(scaled / cap);
}

}  // namespace detail

// q [N, H * K], k [M, G * K], v [M, G * J] -> [N, H * J]. Masked cells are never looked at.
// distance_bias [2 R + 1, H], or empty for none.
template <typename T>
Matrix<T> attention(const Matrix<T>& q, const Matrix<T>& k, const Matrix<T>& v,
                    const AttentionProblem& problem, const Matrix<T>& distance_bias = {}) {
  using std::exp;
  const ops::AttentionOptions& options = problem.options;
  const Index heads = options.num_heads;
  const Index groups = options.num_key_value_heads == 0 ? heads : options.num_key_value_heads;
  const Index width = q.cols / heads, value_width = v.cols / groups;
  Matrix<T> y(q.rows, heads * value_width);

  for (Index s = 0; s < problem.query_spans.count(); ++s) {
    const Span& queries = problem.query_spans[s];
    const Span& keys = problem.key_spans[s];
    for (Index head = 0; head < heads; ++head) {
      const Index group = head / (heads / groups);
      for (Index i = 0; i < queries.length; ++i) {
        std::vector<Index> seen;
        std::vector<T> scores;
        double largest = -std::numeric_limits<double>::infinity();
        for (Index j = 0; j < keys.length; ++j) {
          const double added = detail::added_to_score(problem, {s, head, i, j});
          if (added == -std::numeric_limits<double>::infinity()) continue;
          seen.push_back(j);
          scores.push_back(detail::score(q, queries.begin + i, head * width, k, keys.begin + j,
                                         group * width, width, options) +
                           T(added));
          if (!distance_bias.values.empty()) {
            const Index reach = distance_bias.rows / 2;
            const Index past = options.past.empty() ? 0 : options.past[s];
            const Index distance = std::clamp(j - (i + past), -reach, reach);
            scores.back() += distance_bias(reach + distance, head);
          }
          largest = std::max(largest, value_of(scores.back()));
        }
        T total(0.0);
        for (T& score : scores) total += score = exp(score - T(largest));
        for (std::size_t n = 0; n < seen.size(); ++n) {
          T weight = scores[n] / total;
          if (problem.weight_factor) {
            weight = weight * T(problem.weight_factor(s, head, i, seen[n]));
          }
          for (Index c = 0; c < value_width; ++c) {
            y(queries.begin + i, head * value_width + c) +=
                weight * v(keys.begin + seen[n], group * value_width + c);
          }
        }
      }
    }
  }
  return y;
}

}  // namespace heed::reference
