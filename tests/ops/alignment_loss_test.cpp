#include "heed/ops/alignment_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "support/gradient_check.h"
#include "support/reference.h"

namespace heed {
namespace {

using ops::AlignmentLossOptions;
using ops::AttentionLink;

// Query and key as inputs 0 and 1.
struct AlignmentReference {
  Spans queries, keys;
  std::vector<AttentionLink> links;  // sorted, each once
  AlignmentLossOptions options;

  template <typename T>
  reference::Matrix<T> operator()(const reference::Matrices<T>& in) const {
    const Index key_heads =
        options.num_key_value_heads == 0 ? options.num_heads : options.num_key_value_heads;
    const Index dim = in[0].cols / options.num_heads;
    const Index key_head = options.head * key_heads / options.num_heads;
    reference::Matrix<T> loss(1, 1);
    for (Index s = 0; s < queries.count(); ++s) {
      for (Index i = queries[s].begin; i < queries[s].begin + queries[s].length; ++i) {
        std::vector<Index> linked;
        for (const AttentionLink& link : links) {
          if (link.query == i) linked.push_back(link.key);
        }
        if (linked.empty()) continue;
        reference::Matrix<T> scores(1, keys[s].length);
        for (Index j = 0; j < keys[s].length; ++j) {
          for (Index d = 0; d < dim; ++d) {
            scores(0, j) +=
                in[0](i, options.head * dim + d) * in[1](keys[s].begin + j, key_head * dim + d);
          }
          scores(0, j) = scores(0, j) * T(1 / std::sqrt(static_cast<double>(dim)));
        }
        const reference::Matrix<T> log_weights = reference::log_softmax(scores);
        for (const Index key : linked) {
          loss(0, 0) +=
              T(-1.0 / static_cast<double>(linked.size())) * log_weights(0, key - keys[s].begin);
        }
      }
    }
    return loss;
  }
};

TEST(AlignmentLoss, SmallValuesByHand) {
  // Scores 0 and log 3: weights 1/4 and 3/4.
  const Packed query{Tensor::from({1, 1}, {2, 1}), Spans::single(2)};
  const Packed key{Tensor::from({0, std::log(3.0f)}, {2, 1}), Spans::single(2)};
  EXPECT_FLOAT_EQ(ops::alignment_loss(query, key, {{0, 1}}, {}).item(), -std::log(0.75f));
  EXPECT_FLOAT_EQ(ops::alignment_loss(query, key, {{0, 0}, {0, 1}}, {}).item(),
                  -0.5f * std::log(0.75f) - 0.5f * std::log(0.25f));
  EXPECT_FLOAT_EQ(ops::alignment_loss(query, key, {{1, 1}, {0, 1}, {1, 1}}, {}).item(),
                  -2 * std::log(0.75f));
  EXPECT_EQ(ops::alignment_loss(query, key, {}, {}).item(), 0);
}

TEST(AlignmentLoss, ValuesAndGradientsMatchTheReference) {
  const Spans queries = Spans::of_lengths(std::vector<Index>{3, 1, 4});
  const Spans keys = Spans::of_lengths(std::vector<Index>{2, 5, 3});
  const std::vector<AttentionLink> links{{0, 1}, {1, 0}, {1, 1}, {3, 6}, {5, 7}, {7, 9}, {7, 8}};
  for (const Index key_heads : {Index{4}, Index{2}}) {
    for (const Index head : {Index{0}, Index{3}}) {
      const AlignmentLossOptions options{
          .num_heads = 4, .num_key_value_heads = key_heads, .head = head};
      const AlignmentReference reference{queries, keys, links, options};
      const Inputs inputs{sample({8, 12}), sample({10, 3 * key_heads}, 2)};
      expect_matches_reference(
          [&](const Inputs& in) {
            return ops::alignment_loss({in[0], queries}, {in[1], keys}, links, options);
          },
          reference, inputs);
      expect_gradient_is_right(reference, inputs);
    }
  }
}

TEST(AlignmentLoss, RefusesLinksBetweenSequences) {
  const Packed query{sample({4, 2}), Spans::of_lengths(std::vector<Index>{2, 2})};
  const Packed key{sample({4, 2}), Spans::of_lengths(std::vector<Index>{2, 2})};
  EXPECT_THROW(ops::alignment_loss(query, key, {{0, 2}}, {}), Error);
  EXPECT_THROW(ops::alignment_loss(query, key, {{3, 1}}, {}), Error);
  EXPECT_THROW(ops::alignment_loss(query, key, {{4, 1}}, {}), Error);
}

}  // namespace
}  // namespace heed
