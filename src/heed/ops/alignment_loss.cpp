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

}  // namespace

Tensor alignment_loss(const Packed& query, const Packed& key, std::vector<AttentionLink> links,
                      const AlignmentLossOptions& options) {
  const Index key_heads = num_key_value_heads(options);
  check(query.spans.count() == key.spans.count(), "alignment_loss: expected ", query.spans.count(),
        " sequences of keys, got ", key.spans.count());
  check(options.head >= 0 && options.head < options.num_heads,
        "alignment_loss: expected a head below ", options.num_heads, ", got ", options.head);
  const Index key_head = options.head / (options.num_heads / key_heads);
  const HeadView q = head_view(query.values, options.num_heads, options.head);
  const HeadView k = head_view(key.values, key_heads, key_head);
  check(q.dim == k.dim, "alignment_loss: expected keys of a width of ", q.dim, " a head, got ",
        k.dim);
  // Not default_scale(), which rounds to float: this loss is computed in double.
  const double scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.dim));

  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  const auto rows =
      std::make_shared<const std::vector<GuidedRow>>(guided_rows(query, key, links, q, k, scale));
  double loss = 0;
  for (const GuidedRow& row : *rows) loss += row.loss;

  // With scores s_ij = scale q_i k_j:
  // dq_i = scale sum_j ds_ij k_j, dk_j = scale sum_i ds_ij q_i.
  const Tensor queries = query.values.detach(), keys = key.values.detach();
  const Index head = options.head, num_heads = options.num_heads;
  return record(Tensor::full({}, static_cast<float>(loss)), {query.values, key.values},
                [=](const Tensor& dy) -> Gradients {
                  const HeadView q_view = head_view(queries, num_heads, head);
                  const HeadView k_view = head_view(keys, key_heads, key_head);
                  Tensor dq = Tensor::zeros(queries.shape()), dk = Tensor::zeros(keys.shape());
                  float* dq_head = dq.data() + head * q_view.dim;
                  float* dk_head = dk.data() + key_head * k_view.dim;
                  for (const GuidedRow& row : *rows) {
                    for (Index j = 0; j < row.keys.length; ++j) {
                      const double dscore = scale * dy.item() * row.dscores[j];
                      const Index key_row = row.keys.begin + j;
                      add_scaled(dq_head + row.query * q_view.stride, dscore, k_view.row(key_row));
                      add_scaled(dk_head + key_row * k_view.stride, dscore, q_view.row(row.query));
                    }
                  }
                  return {dq, dk};
                });
}

}  // namespace heed::ops
