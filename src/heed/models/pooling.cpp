#include "heed/models/pooling.h"

#include "heed/base/error.h"
#include "heed/ops/attention.h"
#include "heed/ops/embedding.h"
#include "heed/ops/pooling.h"

namespace heed::models {
namespace {

enum class End { first, last };

Tensor rows_at(End end, const Packed& x) {
  std::vector<Index> rows;
  for (const Span& span : x.spans) {
    check(span.length > 0, "pooling: expected sequences with tokens, got an empty one");
    rows.push_back(end == End::first ? span.begin : span.begin + span.length - 1);
  }
  return ops::gather_rows(x.values, rows);
}

// softmax(q x^T / sqrt(D)) x for each sequence, with the same query [1, D] for all.
Tensor attention_pool(const Packed& x, const Tensor& query) {
  const auto count = static_cast<std::size_t>(x.spans.count());
  const Tensor queries = ops::gather_rows(query, std::vector<Index>(count, 0));  // [S, D]
  const Spans one_each = Spans::of_lengths(std::vector<Index>(count, 1));
  return ops::attention({queries, one_each}, x, x.values, ops::AttentionMask::none(), {});
}

}  // namespace

Tensor pool(const Packed& encoded, Pooling pooling, const Tensor& query) {
  switch (pooling) {
    case Pooling::first:
      return rows_at(End::first, encoded);
    case Pooling::last:
      return rows_at(End::last, encoded);
    case Pooling::mean:
      return ops::mean_rows(encoded);
    case Pooling::max:
      return ops::max_rows(encoded);
    case Pooling::attention:
      break;
  }
  return attention_pool(encoded, query);
}

}  // namespace heed::models
