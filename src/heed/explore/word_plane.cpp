#include "heed/explore/word_plane.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/attention.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"

namespace heed::explore {
namespace {

constexpr Index plane_dim = 2;

void check_plane(const WordPlane& plane) {
  const auto heads = std::ssize(plane.heads);
  check_as(ErrorKind::data, plane.words.rank() == 2 && plane.words.dim(1) == plane_dim,
           "words: expected vectors of 2 numbers, found ", plane.words.shape());
  const Index words = plane.words.dim(0);
  check_as(ErrorKind::data, heads > 0, "heads: expected one or more, found none");
  for (const PlaneHead& head : plane.heads) {
    for (const Tensor* matrix : {&head.query, &head.key, &head.value}) {
      check_as(ErrorKind::data, matrix->shape() == Shape{plane_dim, plane_dim},
               "heads: expected matrices of [2, 2], found ", matrix->shape());
    }
  }
  const Shape output{heads * plane_dim, plane_dim};
  check_as(ErrorKind::data, plane.output.is_defined() || heads == 1,
           "output: expected a matrix of ", output, ", found none");
  check_as(ErrorKind::data, !plane.output.is_defined() || plane.output.shape() == output,
           "output: expected a matrix of ", output, ", found ", plane.output.shape());
  const auto cells = std::ssize(plane.may_see);
  check_as(ErrorKind::data, cells == 0 || cells == words * words, "mask: expected ", words,
           " rows and columns, found ", cells, " cells");
}

// The heads' matrices side by side, so that one product makes all of their queries: [2, 2 * heads].
Tensor side_by_side(const std::vector<PlaneHead>& heads, Tensor PlaneHead::*matrix) {
  const Index width = std::ssize(heads) * plane_dim;
  Tensor all = Tensor::empty({plane_dim, width});
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const float* from = (heads[head].*matrix).data();
    for (Index row = 0; row < plane_dim; ++row) {
      std::copy_n(from + row * plane_dim, plane_dim,
                  all.data() + row * width + static_cast<Index>(head) * plane_dim);
    }
  }
  return all;
}

// The columns of one head: [N, 2 * heads] -> [N, 2].
Tensor columns_of_head(const Tensor& x, Index head) {
  Tensor columns = Tensor::empty({x.dim(0), plane_dim});
  for (Index i = 0; i < x.dim(0); ++i) {
    std::copy_n(x.data() + i * x.dim(1) + head * plane_dim, plane_dim,
                columns.data() + i * plane_dim);
  }
  return columns;
}

// One head's part of a view: [H, ...] -> [...].
Tensor part_of_head(const Tensor& x, Index head, const Shape& shape) {
  const Index size = x.size() / x.dim(0);
  return Tensor::from(
      x.values().subspan(static_cast<std::size_t>(head * size), static_cast<std::size_t>(size)),
      shape);
}

ops::AttentionMask mask_of(const WordPlane& plane) {
  if (plane.may_see.empty()) return ops::AttentionMask::none();
  return ops::AttentionMask::of_cells(plane.may_see, plane.words.dim(0));
}

// [N, N, 2] from a function of query, key and coordinate.
template <typename Value>
Tensor for_pairs(Index words, Value value) {
  Tensor pairs = Tensor::empty({words, words, plane_dim});
  float* out = pairs.data();
  for (Index i = 0; i < words; ++i) {
    for (Index j = 0; j < words; ++j) {
      for (Index d = 0; d < plane_dim; ++d) *out++ = value(i, j, d);
    }
  }
  return pairs;
}

Tensor products_of(const PlaneHeadSteps& head, ops::Similarity similarity) {
  const bool is_cosine = similarity == ops::Similarity::cosine;
  const Tensor q = is_cosine ? ops::unit_vectors(head.queries, plane_dim) : head.queries;
  const Tensor k = is_cosine ? ops::unit_vectors(head.keys, plane_dim) : head.keys;
  return for_pairs(q.dim(0), [&](Index i, Index j, Index d) {
    return q.data()[i * plane_dim + d] * k.data()[j * plane_dim + d];
  });
}

Tensor pulls_of(const PlaneHeadSteps& head) {
  const Index words = head.values.dim(0);
  return for_pairs(words, [&](Index i, Index j, Index d) {
    return head.weights.data()[i * words + j] * head.values.data()[j * plane_dim + d];
  });
}

// A word that sees nothing has no largest similarity, and weights of zero.
Tensor exps_of(const PlaneHeadSteps& head) {
  const Index words = head.masked.dim(0);
  Tensor exps = Tensor::zeros(head.masked.shape());
  for (Index i = 0; i < words; ++i) {
    const float row_max = head.row_max.data()[i];
    if (row_max == -std::numeric_limits<float>::infinity()) continue;
    kernels::exp_below(exps.data() + i * words, head.masked.data() + i * words, row_max, words);
  }
  return exps;
}

// Inputs and outputs of attention, all heads side by side.
struct AllHeads {
  Tensor q, k, v, mixed;  // [N, 2 * heads]
  ops::AttentionView view;
};

PlaneHeadSteps steps_of(const AllHeads& all, Index head, ops::Similarity similarity) {
  const Index words = all.q.dim(0);
  PlaneHeadSteps steps;
  steps.queries = columns_of_head(all.q, head);
  steps.keys = columns_of_head(all.k, head);
  steps.values = columns_of_head(all.v, head);
  steps.products = products_of(steps, similarity);
  steps.scale = ops::default_scale(similarity, plane_dim);
  steps.similarities = part_of_head(all.view.scores[0], head, {words, words});
  steps.masked = part_of_head(all.view.masked[0], head, {words, words});
  steps.row_max = part_of_head(all.view.maxima[0], head, {words});
  steps.exps = exps_of(steps);
  steps.row_sums = part_of_head(all.view.sums[0], head, {words});
  steps.weights = part_of_head(all.view.weights[0], head, {words, words});
  steps.pulls = pulls_of(steps);
  steps.contexts = columns_of_head(all.mixed, head);
  return steps;
}

}  // namespace

PlaneAttention attend_in_plane(const WordPlane& plane) {
  check_plane(plane);
  const NoGrad no_grad;
  const auto heads = std::ssize(plane.heads);
  const Spans spans = Spans::single(plane.words.dim(0));
  AllHeads all;
  all.q = ops::matmul(plane.words, side_by_side(plane.heads, &PlaneHead::query));
  all.k = ops::matmul(plane.words, side_by_side(plane.heads, &PlaneHead::key));
  all.v = ops::matmul(plane.words, side_by_side(plane.heads, &PlaneHead::value));
  all.mixed = ops::attention({all.q, spans}, {all.k, spans}, all.v, mask_of(plane),
                             {.num_heads = heads, .similarity = plane.similarity}, &all.view);

  PlaneAttention result{{}, all.mixed, all.mixed};
  if (plane.output.is_defined()) result.outputs = ops::matmul(all.mixed, plane.output);
  for (Index h = 0; h < heads; ++h) result.heads.push_back(steps_of(all, h, plane.similarity));
  return result;
}

}  // namespace heed::explore
