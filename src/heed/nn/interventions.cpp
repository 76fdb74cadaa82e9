#include "heed/nn/interventions.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed::nn {
namespace {

template <typename Intervention>
std::vector<Intervention> of_layer(const std::vector<Intervention>& all, std::string_view layer) {
  std::vector<Intervention> selected;
  std::ranges::copy_if(all, std::back_inserter(selected),
                       [&](const Intervention& one) { return one.layer == layer; });
  return selected;
}

void check_head(Index head, const AttentionCall& call) {
  check_as(ErrorKind::usage, head >= 0 && head < call.num_heads, call.layer,
           ": expected a head from 0 to ", call.num_heads - 1, ", got ", head);
}

// A mask of zeros for every cell of every sequence and head, as large as the longest needs.
ops::DenseMask open_mask(const AttentionCall& call) {
  Index max_queries = 0, max_keys = 0;
  for (const Span& span : call.queries) max_queries = std::max(max_queries, span.length);
  for (Index s = 0; s < call.queries.count(); ++s) {
    max_keys = std::max(max_keys, call.num_keys(s));
  }
  ops::DenseMask mask{.values = {},
                      .sequence_stride = call.num_heads * max_queries * max_keys,
                      .head_stride = max_queries * max_keys,
                      .query_stride = max_keys};
  mask.values.assign(call.queries.count() * mask.sequence_stride, 0.0f);
  return mask;
}

float* row_of(ops::DenseMask& mask, Index sequence, Index head, Index query) {
  return mask.values.data() + sequence * mask.sequence_stride + head * mask.head_stride +
         query * mask.query_stride;
}

void copy_mask(ops::DenseMask& to, const ops::DenseMask& from, const AttentionCall& call) {
  for (Index s = 0; s < call.queries.count(); ++s) {
    for (Index head = 0; head < call.num_heads; ++head) {
      for (Index i = 0; i < call.queries[s].length; ++i) {
        const float* row = from.values.data() + s * from.sequence_stride + head * from.head_stride +
                           i * from.query_stride;
        std::copy_n(row, call.num_keys(s), row_of(to, s, head, i));
      }
    }
  }
}

void knock_out(ops::DenseMask& mask, const Interventions::Knockout& link,
               const AttentionCall& call) {
  const Index first_head = link.head.value_or(0);
  const Index last_head = link.head.value_or(call.num_heads - 1);
  check_head(first_head, call);
  const std::vector<Index> positions = call.row_positions();
  for (Index s = 0; s < call.queries.count(); ++s) {
    const Span& rows = call.queries[s];
    if (link.key < 0 || link.key >= call.num_keys(s)) continue;
    for (Index i = 0; i < rows.length; ++i) {
      if (positions[rows.begin + i] != link.query) continue;
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

Tensor scale_heads(const Tensor& mixed, std::span<const Interventions::HeadScale> scales,
                   const AttentionCall& call) {
  Tensor factors = Tensor::full(mixed.shape(), 1);
  for (const Interventions::HeadScale& scale : scales) {
    check_head(scale.head, call);
    for (Index row = 0; row < mixed.dim(0); ++row) {
      std::ranges::fill(head_of_row(factors, row, scale.head, call.num_heads), scale.scale);
    }
  }
  return ops::multiply(mixed, factors);
}

Tensor steer_heads(const Tensor& mixed, std::span<const Interventions::SteeringVector> steering,
                   const AttentionCall& call) {
  Tensor added = Tensor::zeros(mixed.shape());
  const std::vector<Index> positions = call.row_positions();
  for (const Interventions::SteeringVector& steering_vector : steering) {
    check_head(steering_vector.head, call);
    for (const Span& span : call.queries) {
      for (Index row = span.begin; row < span.begin + span.length; ++row) {
        if (positions[row] != steering_vector.query) continue;
        const std::span<float> part = head_of_row(added, row, steering_vector.head, call.num_heads);
        check(part.size() == steering_vector.added.size(), call.layer,
              ": expected a steering vector of ", part.size(), " numbers, got ",
              steering_vector.added.size());
        for (std::size_t i = 0; i < part.size(); ++i) part[i] += steering_vector.added[i];
      }
    }
  }
  return ops::add(mixed, added);
}

}  // namespace

ops::AttentionMask Interventions::mask(const AttentionCall& call,
                                       const ops::AttentionMask& mask) const {
  const auto links = of_layer(knockouts, call.layer);
  if (links.empty()) return mask;
  auto dense = std::make_shared<ops::DenseMask>(open_mask(call));
  if (mask.dense) copy_mask(*dense, *mask.dense, call);
  for (const Knockout& link : links) knock_out(*dense, link, call);
  ops::AttentionMask result = mask;
  result.dense = std::move(dense);
  return result;
}

Tensor Interventions::heads(const AttentionCall& call, const Tensor& heads) const {
  Tensor y = heads;
  const auto layer_scales = of_layer(scales, call.layer);
  if (!layer_scales.empty()) y = scale_heads(y, layer_scales, call);
  const auto vectors = of_layer(steering, call.layer);
  if (!vectors.empty()) y = steer_heads(y, vectors, call);
  return y;
}

}  // namespace heed::nn
