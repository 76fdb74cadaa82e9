#include "heed/ops/alignment_loss.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "heed/base/error.h"
#include "heed/ops/attention.h"

namespace heed::ops {
namespace {

// One query with links: the derivative of its loss by each of its scores.
struct GuidedRow {
  Index query;
  Span keys;                   // of its sequence
  std::vector<float> dscores;  // softmax - target
  double loss = 0;
};

// One head's vectors among the columns of a packed tensor.
struct HeadView {
  const float* data;
  Index stride, dim;
  std::span<const float> row(Index i) const {
    return {data + i * stride, static_cast<std::size_t>(dim)};
  }
};

HeadView head_view(const Tensor& values, Index num_heads, Index head) {
  const Index dim = values.dim(1) / num_heads;
  return {values.data() + head * dim, values.dim(1), dim};
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void add_scaled(float* to, double factor, std::span<const float> from) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += static_cast<float>(factor * from[i]);
}

GuidedRow guide(std::span<const AttentionLink> links, const HeadView& query, const HeadView& key,
                const Span& keys, double scale) {
  GuidedRow row{links.front().query, keys, std::vector<float>(keys.length)};
  std::vector<double> scores(keys.length);
  for (Index j = 0; j < keys.length; ++j) {
    scores[j] = scale * dot(query.row(row.query), key.row(keys.begin + j));
  }
  const double max = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - max);
  for (Index j = 0; j < keys.length; ++j) {
    row.dscores[j] = static_cast<float>(std::exp(scores[j] - max) / sum);
  }
  const double share = 1.0 / static_cast<double>(links.size());
  for (const AttentionLink& link : links) {
    const Index j = link.key - keys.begin;
    row.loss += share * (max + std::log(sum) - scores[j]);
    row.dscores[j] -= static_cast<float>(share);
  }
  return row;
}

// Row by row, in the order of the queries.
std::vector<GuidedRow> guided_rows(const Packed& query, const Packed& key,
                                   std::span<const AttentionLink> links, const HeadView& query_head,
                                   const HeadView& key_head, double scale) {
  std::vector<GuidedRow> rows;
  std::size_t begin = 0;
  for (Index s = 0; s < query.spans.count(); ++s) {
    const Span& queries = query.spans[s];
    const Span& keys = key.spans[s];
    while (begin < links.size() && links[begin].query < queries.begin + queries.length) {
      std::size_t end = begin;
      for (; end < links.size() && links[end].query == links[begin].query; ++end) {
        check(links[end].query >= queries.begin && links[end].key >= keys.begin &&
                  links[end].key < keys.begin + keys.length,
              "alignment_loss: expected links within a sequence, got query ", links[end].query,
              " and key ", links[end].key);
      }
      rows.push_back(guide(links.subspan(begin, end - begin), query_head, key_head, keys, scale));
      begin = end;
    }
  }
  check(begin == links.size(), "alignment_loss: expected queries below ", query.spans.end_row(),
        ", got ", links.empty() ? 0 : links.back().query);
  return rows;
}

// The guided head, and the key/value head that it shares with its group.
struct GuidedHead {
  Index num_heads, head;
  Index num_key_heads, key_head;

  HeadView query_view(const Tensor& values) const { return head_view(values, num_heads, head); }
  HeadView key_view(const Tensor& values) const {
    return head_view(values, num_key_heads, key_head);
  }
};

GuidedHead checked_head(const Packed& query, const Packed& key,
                        const AlignmentLossOptions& options) {
  check(query.spans.count() == key.spans.count(), "alignment_loss: expected ", query.spans.count(),
        " sequences of keys, got ", key.spans.count());
  check(options.head >= 0 && options.head < options.num_heads,
        "alignment_loss: expected a head below ", options.num_heads, ", got ", options.head);
  const Index num_key_heads = num_key_value_heads(options);
  const GuidedHead head{options.num_heads, options.head, num_key_heads,
                        options.head / (options.num_heads / num_key_heads)};
  const Index query_dim = head.query_view(query.values).dim;
  const Index key_dim = head.key_view(key.values).dim;
  check(query_dim == key_dim, "alignment_loss: expected keys of a width of ", query_dim,
        " a head, got ", key_dim);
  return head;
}

// With scores s_ij = scale q_i k_j:
// dq_i = scale sum_j ds_ij k_j, dk_j = scale sum_i ds_ij q_i.
Gradients guided_gradients(const std::vector<GuidedRow>& rows, const GuidedHead& head,
                           const Tensor& queries, const Tensor& keys, double scale) {
  const HeadView q = head.query_view(queries), k = head.key_view(keys);
  Tensor dq = Tensor::zeros(queries.shape()), dk = Tensor::zeros(keys.shape());
  float* dq_head = dq.data() + head.head * q.dim;
  float* dk_head = dk.data() + head.key_head * k.dim;
  for (const GuidedRow& row : rows) {
    for (Index j = 0; j < row.keys.length; ++j) {
      const double dscore = scale * row.dscores[j];
      const Index key_row = row.keys.begin + j;
      add_scaled(dq_head + row.query * q.stride, dscore, k.row(key_row));
      add_scaled(dk_head + key_row * k.stride, dscore, q.row(row.query));
    }
  }
  return {dq, dk};
}

}  // namespace

Tensor alignment_loss(const Packed& query, const Packed& key, std::vector<AttentionLink> links,
                      const AlignmentLossOptions& options) {
  const GuidedHead head = checked_head(query, key, options);
  const HeadView q = head.query_view(query.values), k = head.key_view(key.values);
  // Not default_scale(), which rounds to float: this loss is computed in double.
  const double scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.dim));

  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  const auto rows =
      std::make_shared<const std::vector<GuidedRow>>(guided_rows(query, key, links, q, k, scale));
  double loss = 0;
  for (const GuidedRow& row : *rows) loss += row.loss;

  return record(Tensor::full({}, static_cast<float>(loss)), {query.values, key.values},
                [rows, head, scale, queries = query.values.detach(),
                 keys = key.values.detach()](const Tensor& dy) -> Gradients {
                  return guided_gradients(*rows, head, queries, keys, scale * dy.item());
                });
}

}  // namespace heed::ops
