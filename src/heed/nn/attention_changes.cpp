#include "heed/nn/attention_changes.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed::nn {
namespace {

template <typename Change>
std::vector<Change> of_layer(const std::vector<Change>& changes, std::string_view layer) {
  std::vector<Change> found;
  std::ranges::copy_if(changes, std::back_inserter(found),
                       [&](const Change& change) { return change.layer == layer; });
  return found;
}

void check_head(Index head, const ChangedQueries& queries) {
  check_as(ErrorKind::usage, head >= 0 && head < queries.num_heads, queries.layer,
           ": expected a head from 0 to ", queries.num_heads - 1, ", got ", head);
}

// Numbers for every cell of every sequence and head: room for the longest.
ops::DenseMask open_mask(const ChangedQueries& queries, std::span<const Index> key_lengths) {
  Index most_queries = 0, most_keys = 0;
  for (const Span& span : queries.spans) most_queries = std::max(most_queries, span.length);
  for (const Index length : key_lengths) most_keys = std::max(most_keys, length);
  ops::DenseMask mask{.values = {},
                      .sequence_stride = queries.num_heads * most_queries * most_keys,
                      .head_stride = most_queries * most_keys,
                      .query_stride = most_keys};
  mask.values.assign(queries.spans.count() * mask.sequence_stride, 0.0f);
  return mask;
}

float* row_of(ops::DenseMask& mask, Index sequence, Index head, Index query) {
  return mask.values.data() + sequence * mask.sequence_stride + head * mask.head_stride +
         query * mask.query_stride;
}

void copy_mask(ops::DenseMask& to, const ops::DenseMask& from, const ChangedQueries& queries,
               std::span<const Index> key_lengths) {
  for (Index s = 0; s < queries.spans.count(); ++s) {
    for (Index head = 0; head < queries.num_heads; ++head) {
      for (Index i = 0; i < queries.spans[s].length; ++i) {
        const float* row = from.values.data() + s * from.sequence_stride + head * from.head_stride +
                           i * from.query_stride;
        std::copy_n(row, key_lengths[s], row_of(to, s, head, i));
      }
    }
  }
}

void forbid(ops::DenseMask& mask, const AttentionChanges::ForbiddenLink& link,
            const ChangedQueries& queries, std::span<const Index> key_lengths) {
  const Index first_head = link.head.value_or(0);
  const Index last_head = link.head.value_or(queries.num_heads - 1);
  check_head(first_head, queries);
  for (Index s = 0; s < queries.spans.count(); ++s) {
    const Span& rows = queries.spans[s];
    if (link.key < 0 || link.key >= key_lengths[s]) continue;
    for (Index i = 0; i < rows.length; ++i) {
      if (queries.places[rows.begin + i] != link.query) continue;
      for (Index head = first_head; head <= last_head; ++head) {
        row_of(mask, s, head, i)[link.key] = -std::numeric_limits<float>::infinity();
      }
    }
  }
}

// Columns of one head in rows of [N, H * K].
std::span<float> head_of_row(Tensor& x, Index row, Index head, Index num_heads) {
  const Index width = x.dim(1) / num_heads;
  return x.values().subspan(row * x.dim(1) + head * width, width);
}

Tensor scaled(const Tensor& mixed, std::span<const AttentionChanges::HeadScale> scales,
              const ChangedQueries& queries) {
  Tensor factors = Tensor::full(mixed.shape(), 1);
  for (const AttentionChanges::HeadScale& change : scales) {
    check_head(change.head, queries);
    for (Index row = 0; row < mixed.dim(0); ++row) {
      std::ranges::fill(head_of_row(factors, row, change.head, queries.num_heads), change.scale);
    }
  }
  return ops::multiply(mixed, factors);
}

Tensor nudged(const Tensor& mixed, std::span<const AttentionChanges::Nudge> nudges,
              const ChangedQueries& queries) {
  Tensor added = Tensor::zeros(mixed.shape());
  for (const AttentionChanges::Nudge& nudge : nudges) {
    check_head(nudge.head, queries);
    for (const Span& span : queries.spans) {
      for (Index row = span.begin; row < span.begin + span.length; ++row) {
        if (queries.places[row] != nudge.query) continue;
        const std::span<float> part = head_of_row(added, row, nudge.head, queries.num_heads);
        check(part.size() == nudge.added.size(), queries.layer, ": expected a nudge of ",
              part.size(), " numbers, got ", nudge.added.size());
        for (std::size_t i = 0; i < part.size(); ++i) part[i] += nudge.added[i];
      }
    }
  }
  return ops::add(mixed, added);
}

}  // namespace

ops::AttentionMask without_forbidden_links(const ops::AttentionMask& mask,
                                           const AttentionChanges& changes,
                                           const ChangedQueries& queries,
                                           std::span<const Index> key_lengths) {
  const auto links = of_layer(changes.links, queries.layer);
  if (links.empty()) return mask;
  auto dense = std::make_shared<ops::DenseMask>(open_mask(queries, key_lengths));
  if (mask.dense) copy_mask(*dense, *mask.dense, queries, key_lengths);
  for (const auto& link : links) forbid(*dense, link, queries, key_lengths);
  ops::AttentionMask changed = mask;
  changed.dense = std::move(dense);
  return changed;
}

Tensor with_changed_heads(const Tensor& mixed, const AttentionChanges& changes,
                          const ChangedQueries& queries) {
  Tensor y = mixed;
  const auto scales = of_layer(changes.scales, queries.layer);
  if (!scales.empty()) y = scaled(y, scales, queries);
  const auto nudges = of_layer(changes.nudges, queries.layer);
  if (!nudges.empty()) y = nudged(y, nudges, queries);
  return y;
}

}  // namespace heed::nn
