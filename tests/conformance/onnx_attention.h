// ONNX Attention through ops::attention.
#pragma once

#include <algorithm>
#include <limits>

#include "conformance/onnx_case.h"
#include "heed/ops/attention.h"

namespace heed::onnx {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Heads of all sequences: [batch, heads, length, width], from that shape or from
// [batch, length, heads * width].
inline Array split_heads(const Array& x, Index num_heads) {
  if (x.shape.size() == 4) return x;
  check(x.shape.size() == 3 && num_heads > 0 && x.shape[2] % num_heads == 0,
        "Attention: expected rank 4, or rank 3 and a number of heads");
  Array split = x;
  split.shape = {x.shape[0], x.shape[1], num_heads, x.shape[2] / num_heads};
  return transposed(split, {0, 2, 1, 3});
}

// [batch, heads, length, width] as the rows of packed sequences: [batch * length, heads * width].
inline Tensor packed_rows(const Array& x) {
  return transposed(x, {0, 2, 1, 3}).matrix(x.shape[0] * x.shape[2], x.shape[1] * x.shape[3]);
}

// past, then x, along the length.
inline Array joined(const Array* past, const Array& x) {
  if (past == nullptr) return x;
  Array y{{x.shape[0], x.shape[1], past->shape[2] + x.shape[2], x.shape[3]}, {}, x.dtype};
  for (Index head = 0; head < x.shape[0] * x.shape[1]; ++head) {
    for (const Array* part : {past, &x}) {
      const Index size = part->shape[2] * part->shape[3];
      y.data.insert(y.data.end(), part->data.begin() + head * size,
                    part->data.begin() + (head + 1) * size);
    }
  }
  return y;
}

struct AttentionSizes {
  Index batch, heads, groups, queries, keys;
};

// What attn_mask adds to one cell. It is broadcast from the right; keys that it does not reach are
// masked.
inline double mask_value(const Array& mask, Index sequence, Index head, Index query, Index key) {
  const Index cell[4] = {sequence, head, query, key};
  const std::size_t rank = mask.shape.size();
  check(rank >= 1 && rank <= 4, "Attention: expected a mask of rank 1 to 4, found ", rank);
  if (key >= mask.shape[rank - 1]) return minus_infinity;
  Index at = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Index place = cell[4 - rank + axis];
    at = at * mask.shape[axis] + (mask.shape[axis] == 1 && axis + 1 < rank ? 0 : place);
  }
  const double value = mask.data[at];
  if (mask.dtype != "bool") return value;
  return value != 0 ? 0 : minus_infinity;
}

// The keys before the first query: those of the cache; of an external cache, all but the newest.
inline std::vector<Index> causal_offsets(const Case& c, const AttentionSizes& sizes) {
  const Array *past = c.optional_input(4), *lengths = c.optional_input(6);
  std::vector<Index> offsets(sizes.batch, past ? past->shape[2] : 0);
  if (past == nullptr && lengths != nullptr) {
    for (Index s = 0; s < sizes.batch; ++s) {
      offsets[s] = static_cast<Index>(lengths->data[s]) - sizes.queries;
    }
  }
  return offsets;
}

// Everything that hides or weighs cells, as numbers: attn_mask, the lengths of padded keys, and a
// causal mask whose queries stand before the first key (which ops::attention does not know).
inline std::shared_ptr<const ops::DenseMask> dense_mask(const Case& c, const AttentionSizes& sizes,
                                                        const std::vector<Index>& offsets,
                                                        bool is_causal) {
  const Array *mask = c.optional_input(3), *lengths = c.optional_input(6);
  if (mask == nullptr && lengths == nullptr && !is_causal) return nullptr;
  auto dense = std::make_shared<ops::DenseMask>();
  dense->query_stride = sizes.keys;
  dense->head_stride = sizes.queries * sizes.keys;
  dense->sequence_stride = sizes.heads * dense->head_stride;
  for (Index s = 0; s < sizes.batch; ++s) {
    for (Index h = 0; h < sizes.heads; ++h) {
      for (Index i = 0; i < sizes.queries; ++i) {
        for (Index j = 0; j < sizes.keys; ++j) {
          double added = mask ? mask_value(*mask, s, h, i, j) : 0;
          if (lengths && j >= lengths->data[s]) added = minus_infinity;
          if (is_causal && j > i + offsets[s]) added = minus_infinity;
          dense->values.push_back(static_cast<float>(added));
        }
      }
    }
  }
  return dense;
}

// One stage of the view, [batch, heads, queries, keys].
inline Array stage_of(const std::vector<Tensor>& sequences, const AttentionSizes& sizes) {
  Array stage{{sizes.batch, sizes.heads, sizes.queries, sizes.keys}, {}};
  for (const Tensor& sequence : sequences) {
    stage.data.insert(stage.data.end(), sequence.values().begin(), sequence.values().end());
  }
  return stage;
}

inline Array matmul_output(const ops::AttentionView& view, Index mode,
                           const AttentionSizes& sizes) {
  check(mode >= 0 && mode <= 3, "Attention: qk_matmul_output_mode: expected 0 to 3, found ", mode);
  const std::vector<Tensor>* stages[] = {&view.scores, &view.capped, &view.masked, &view.weights};
  return stage_of(*stages[mode], sizes);
}

inline Spans equal_spans(Index count, Index length) {
  return Spans::of_lengths(std::vector<Index>(count, length));
}

inline Results run_attention(Case& c) {
  c.check_inputs_at_most(7);
  const Index num_heads = c.attributes.get<Index>("q_num_heads", 0);
  const Index num_groups = c.attributes.get<Index>("kv_num_heads", 0);
  const bool is_causal = c.attributes.get<int>("is_causal", 0) != 0;
  const Index mode = c.attributes.get<Index>("qk_matmul_output_mode", 0);
  // We add up in single precision whatever is asked for: 1 float, 10 float16, 11 double, 16
  // bfloat16.
  const int precision = c.attributes.get<int>("softmax_precision", 1);
  check(precision == 1 || precision == 10 || precision == 11 || precision == 16,
        "Attention: softmax_precision: unknown type ", precision);

  const bool is_rank_3 = c.input(0).shape.size() == 3;
  const Array q = split_heads(c.input(0), num_heads);
  const Array k = joined(c.optional_input(4), split_heads(c.input(1), num_groups));
  const Array v = joined(c.optional_input(5), split_heads(c.input(2), num_groups));
  const AttentionSizes sizes{q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2]};

  ops::AttentionOptions options;
  options.num_heads = sizes.heads;
  options.num_key_value_heads = sizes.groups;
  options.softcap = c.attributes.get<float>("softcap", 0);
  if (const float scale = c.attributes.get<float>("scale", 0); c.attributes.has("scale")) {
    options.scale = scale;
  }
  const std::vector<Index> offsets = causal_offsets(c, sizes);
  const bool is_behind_the_keys = std::ranges::min(offsets) >= 0;
  ops::AttentionMask mask;
  mask.causal = is_causal && is_behind_the_keys;
  mask.dense = dense_mask(c, sizes, offsets, is_causal && !is_behind_the_keys);
  if (mask.causal) options.past = offsets;

  ops::AttentionView view;
  const Tensor mixed = ops::attention({packed_rows(q), equal_spans(sizes.batch, sizes.queries)},
                                      {packed_rows(k), equal_spans(sizes.batch, sizes.keys)},
                                      packed_rows(v), mask, options, &view);
  const Index width = v.shape[3];
  Array y = array_of(mixed, {sizes.batch, sizes.queries, sizes.heads, width});
  if (is_rank_3) {
    y.shape = {sizes.batch, sizes.queries, sizes.heads * width};
  } else {
    y = transposed(y, {0, 2, 1, 3});
  }
  return {y, k, v, matmul_output(view, mode, sizes)};
}

}  // namespace heed::onnx
