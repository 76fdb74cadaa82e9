// One attention problem for tests: lengths, widths and options, with inputs that fit.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "heed/ops/attention.h"
#include "support/gradient_check.h"
#include "support/reference_attention.h"

namespace heed {

struct AttentionCase {
  std::vector<Index> query_lengths = {5};
  std::vector<Index> key_lengths = {};  // empty: as the queries
  Index key_dim = 4;
  Index value_dim = 0;  // 0: as key_dim
  ops::AttentionMask mask = {};
  ops::AttentionOptions options = {};

  Spans query_spans() const { return Spans::of_lengths(query_lengths); }
  Spans key_spans() const {
    return Spans::of_lengths(key_lengths.empty() ? query_lengths : key_lengths);
  }
  Index num_groups() const {
    return options.num_key_value_heads == 0 ? options.num_heads : options.num_key_value_heads;
  }
  Index value_width() const { return value_dim == 0 ? key_dim : value_dim; }

  Inputs inputs() const {
    return {sample({query_spans().num_tokens(), options.num_heads * key_dim}, 1),
            sample({key_spans().num_tokens(), num_groups() * key_dim}, 2),
            sample({key_spans().num_tokens(), num_groups() * value_width()}, 3)};
  }
  reference::AttentionProblem problem() const {
    return {query_spans(), key_spans(), mask, options, nullptr};
  }
  Tensor run(const Inputs& in, ops::AttentionView* view = nullptr) const {
    return ops::attention({in[0], query_spans()}, {in[1], key_spans()}, in[2], mask, options, view);
  }
};

// The result and the gradients of query, key and value, for one fixed gradient of the result.
struct AttentionRun {
  Tensor output, dquery, dkey, dvalue;
};

inline AttentionRun run_with_gradients(const Inputs& inputs,
                                       const std::function<Tensor(const Inputs&)>& attention,
                                       const Tensor& doutput = Tensor()) {
  Inputs in;
  for (const Tensor& input : inputs) {
    in.push_back(input.clone());
    in.back().require_gradient();
  }
  const Tensor y = attention(in);
  backward(y, doutput.is_defined() ? doutput : sample(y.shape(), 9));
  return {y, in[0].gradient(), in[1].gradient(), in[2].gradient()};
}

// A mask of its own number for every sequence, head, query and key.
inline ops::AttentionMask dense_mask(
    Index sequences, Index heads, Index queries, Index keys,
    const std::function<float(Index sequence, Index head, Index query, Index key)>& value) {
  auto dense = std::make_shared<ops::DenseMask>();
  dense->sequence_stride = heads * queries * keys;
  dense->head_stride = queries * keys;
  dense->query_stride = keys;
  for (Index s = 0; s < sequences; ++s) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        for (Index j = 0; j < keys; ++j) dense->values.push_back(value(s, h, i, j));
      }
    }
  }
  ops::AttentionMask mask;
  mask.dense = std::move(dense);
  return mask;
}

constexpr float masked_cell = -std::numeric_limits<float>::infinity();

}  // namespace heed
