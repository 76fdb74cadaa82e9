#include "heed/ops/attention_checks.h"

#include <algorithm>
#include <span>

#include "heed/base/error.h"
#include "heed/kernels/attention.h"

namespace heed::ops {
namespace {

constexpr Index page_rows = kernels::attention_page_rows;

bool are_disjoint_in_order(std::span<const Span> spans) {
  const auto overlap = [](const Span& a, const Span& b) { return a.begin + a.length > b.begin; };
  return std::ranges::adjacent_find(spans, overlap) == spans.end();
}

bool are_disjoint(const Spans& spans) {
  if (are_disjoint_in_order({spans.begin(), spans.end()}))
    return true;  // as they nearly always are
  std::vector<Span> sorted(spans.begin(), spans.end());
  std::ranges::sort(sorted, [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length < b.length;
  });
  return are_disjoint_in_order(sorted);
}

// The checks that do not depend on the layout of the keys; the caller sets the value's width.
AttentionSizes checked_sizes(const Packed& query, const AttentionOptions& options) {
  const Index heads = options.num_heads;
  const Index groups = num_key_value_heads(options);
  check(heads > 0 && groups > 0 && heads % groups == 0,
        "attention: expected key/value heads that divide the heads, got ", groups, " and ", heads);
  const Tensor& q = query.values;
  check(q.rank() == 2 && q.dim(1) % heads == 0, "attention: expected a query of ", heads,
        " heads in each row of a matrix, got ", q.shape());
  check(query.spans.end_row() <= q.dim(0),
        "attention: the sequences reach beyond the rows of query ", q.shape());
  check(are_disjoint(query.spans), "attention: expected sequences that share no queries");
  check(options.past.empty() || std::ssize(options.past) == query.spans.count(),
        "attention: expected the past of ", query.spans.count(), " sequences, got ",
        options.past.size());
  check(options.alibi_slopes.empty() || std::ssize(options.alibi_slopes) == heads,
        "attention: expected ", heads, " ALiBi slopes, got ", options.alibi_slopes.size());
  check(options.dropout.probability >= 0 && options.dropout.probability < 1,
        "attention: expected a dropout in [0, 1), got ", options.dropout.probability);
  return {heads, groups, q.dim(1) / heads, 0};
}

void check_sequences(const Packed& query, const Spans& keys) {
  check(query.spans.count() == keys.count(),
        "attention: expected as many key sequences as query sequences, got ", keys.count(), " and ",
        query.spans.count());
}

}  // namespace

AttentionSizes checked_sizes(const Packed& query, const Packed& key, const Tensor& value,
                             const AttentionOptions& options) {
  AttentionSizes sizes = checked_sizes(query, options);
  const Tensor &q = query.values, &k = key.values;
  check(k.rank() == 2 && value.rank() == 2, "attention: expected matrices, got key ", k.shape(),
        ", value ", value.shape());
  check(k.dim(1) == sizes.key_dim * sizes.groups, "attention: expected query and key of ",
        sizes.heads, " and ", sizes.groups, " heads of one width, got ", q.shape(), " and ",
        k.shape());
  check(value.dim(1) % sizes.groups == 0 && value.dim(0) == k.dim(0),
        "attention: expected a value of ", sizes.groups, " heads and ", k.dim(0), " rows, got ",
        value.shape());
  check_sequences(query, key.spans);
  check(key.spans.end_row() <= k.dim(0), "attention: the sequences reach beyond the rows of key ",
        k.shape());
  sizes.value_dim = value.dim(1) / sizes.groups;
  return sizes;
}

AttentionSizes checked_sizes(const Packed& query, const PagedKeys& memory, const Spans& keys,
                             const AttentionOptions& options) {
  AttentionSizes sizes = checked_sizes(query, options);
  check_sequences(query, keys);
  const Index num_pages = memory.keys.dim(1);
  sizes.value_dim = memory.values.dim(-1);
  const Shape key_shape{sizes.groups, num_pages, page_rows, sizes.key_dim};
  const Shape value_shape{sizes.groups, num_pages, page_rows, sizes.value_dim};
  check(memory.keys.shape() == key_shape && memory.values.shape() == value_shape,
        "attention: expected keys ", key_shape, " and values ", value_shape, ", got ",
        memory.keys.shape(), " and ", memory.values.shape());
  return sizes;
}

void check_dense(const DenseMask& mask, const Packed& query, const Packed& key, Index heads) {
  Index last = -1;
  for (Index s = 0; s < query.spans.count(); ++s) {
    const Index queries = query.spans[s].length, keys = key.spans[s].length;
    if (queries == 0 || keys == 0) continue;
    last = std::max(last, s * mask.sequence_stride + (heads - 1) * mask.head_stride +
                              (queries - 1) * mask.query_stride + keys - 1);
  }
  check(last < std::ssize(mask.values), "attention: expected a mask of at least ", last + 1,
        " values, got ", mask.values.size());
}

void check_distance_bias(const Tensor& bias, Index heads, float scale) {
  check(bias.rank() == 2 && bias.dim(0) % 2 == 1 && bias.dim(1) == heads,
        "attention: expected biases of an odd number of distances and ", heads, " heads, got ",
        bias.shape());
  check(scale != 0, "attention: a bias by distance needs a scale other than 0");
}

Spans checked_spans(const PagedKeys& memory) {
  check(memory.pages.size() == memory.lengths.size(), "attention: expected the pages of ",
        memory.lengths.size(), " sequences, got ", memory.pages.size());
  check(memory.keys.rank() == 4 && memory.values.rank() == 4,
        "attention: expected pages of keys and values, got ", memory.keys.shape(), " and ",
        memory.values.shape());
  const Index num_pages = memory.keys.dim(1);
  std::vector<Span> spans;
  for (std::size_t s = 0; s < memory.lengths.size(); ++s) {
    spans.push_back({0, memory.lengths[s]});
    const std::vector<Index>& pages = memory.pages[s];
    check(std::ssize(pages) * page_rows >= memory.lengths[s], "attention: expected pages for ",
          memory.lengths[s], " keys, got ", pages.size(), " of ", page_rows);
    for (const Index page : pages) {
      check(page >= 0 && page < num_pages, "attention: expected a page below ", num_pages, ", got ",
            page);
    }
  }
  return Spans(std::move(spans));
}

void check_no_shared_keys(const Spans& keys) {
  check(are_disjoint(keys), "attention: sequences that share keys have no gradient");
}

}  // namespace heed::ops
