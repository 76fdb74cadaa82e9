// Attention: softmax(similarity(q, k) * scale + mask) v, per sequence and head.
//
//   const Tensor y = ops::attention(q, k, v, {.num_heads = 8, .causal = true});
//
// One sequence [L, D] and several of one length [B, L, D] are plain tensors, as above. Sequences of
// different lengths are packed end to end (core/spans.h), never padded; a KV cache is in pages.
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <vector>

#include "heed/core/spans.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/similarity.h"

namespace heed::ops {

// Numbers added to the scores, minus infinity where a cell is masked. Cell (query i, key j) of
// sequence s and head h is values[s * sequence_stride + h * head_stride + i * query_stride + j];
// a stride of 0 repeats the same numbers.
struct DenseMask {
  std::vector<float> values;
  Index sequence_stride = 0;
  Index head_stride = 0;
  Index query_stride = 0;
};

// The keys that a query may see. Masked cells never matter, not even if they hold NaN.
struct AttentionMask {
  bool causal = false;  // query i of a sequence sees keys 0 .. i + past
  Index window = 0;     // 0, or a query sees only keys less than `window` away from its own place
  std::shared_ptr<const DenseMask> dense;  // optional; combined with the others
  // [2 R + 1, H], or undefined: row R + d is added to the heads' scores of a key d places after the
  // query, the first or last row where d is beyond -R or R. It may have a gradient.
  Tensor distance_bias = {};

  static AttentionMask none() { return {}; }
  static AttentionMask causal_mask() { return {.causal = true, .window = 0, .dense = nullptr}; }
  // may_see [queries * num_keys], row by row: the same for all sequences and heads.
  static AttentionMask of_cells(const std::vector<bool>& may_see, Index num_keys);
};

// A query that should attend to a key; rows of the packed tensors, both of the same sequence. What
// guided alignment trains a head for.
struct AttentionLink {
  Index query = 0;
  Index key = 0;

  friend auto operator<=>(const AttentionLink&, const AttentionLink&) = default;
};

struct AttentionOptions {
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as many as query heads; otherwise a divisor of num_heads
  Similarity similarity = Similarity::scaled_dot;
  // In place of the similarity's own, default_scale().
  std::optional<float> scale = {};
  float softcap = 0;  // c > 0: scores become c * tanh(score / c), before the mask
  // One per head, or none: adds -slope * |distance| to the scores.
  std::vector<float> alibi_slopes = {};
  std::vector<Index> past = {};  // keys before the first query, per sequence; empty: none
  Dropout dropout = {};          // on the weights
};

// G, the number of key/value heads of a layer's or an operation's options: there 0 stands for
// num_heads.
template <typename Options>
Index num_key_value_heads(const Options& options) {
  return options.num_key_value_heads == 0 ? options.num_heads : options.num_key_value_heads;
}

// Keys and values of several sequences in pages of P = kernels::attention_page_rows rows: token t
// of sequence s is in page pages[s][t / P], at row t % P. Each head has all of its pages together,
// so that it reads memory in long runs. Sequences may share pages; a page that no
// sequence names may hold anything.
struct PagedKeys {
  Tensor keys;                            // [G, pages, P, K]
  Tensor values;                          // [G, pages, P, J]
  std::vector<Index> lengths;             // tokens of each sequence
  std::vector<std::vector<Index>> pages;  // of each sequence, in order
};

// Intermediate results: one tensor [H, queries, keys] per sequence, and for maxima and sums one
// [H, queries].
struct AttentionView {
  std::vector<Tensor> scores;   // similarity * scale
  std::vector<Tensor> capped;   // after softcap
  std::vector<Tensor> masked;   // after ALiBi and mask: minus infinity where masked
  std::vector<Tensor> weights;  // after softmax, before dropout: e^(masked - maximum) * (1 / sum)
  std::vector<Tensor> maxima;   // of the masked scores: minus infinity where all are masked
  std::vector<Tensor> sums;     // of e^(masked - maximum), in the order of the online softmax
};

// Mask and options of `attention` of plain tensors.
struct PlainAttentionOptions {
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as many as query heads; otherwise a divisor of num_heads
  bool causal = false;            // query i sees keys 0 .. i
  Index window = 0;               // 0, or a query sees only keys less than `window` away
  // [L, M], [H, L, M] or [B, H, L, M], added to the scores: minus infinity masks a cell. Undefined:
  // nothing is added.
  Tensor mask = {};
  Similarity similarity = Similarity::scaled_dot;
  std::optional<float> scale = {};  // in place of the similarity's own, default_scale()
  float softcap = 0;                // c > 0: scores become c * tanh(score / c), before the mask
  std::vector<float> alibi_slopes = {};  // one per head, or none
  Dropout dropout = {};                  // on the weights
};

// query [L, H * K], key [M, G * K], value [M, G * J] -> [L, H * J], or with an axis B of sequences
// before each: [B, L, H * K] and so on. The mask's values get no gradient.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 const PlainAttentionOptions& options = {}, AttentionView* view = nullptr);

// query [N, H * K], key [M, G * K], value [M, G * J] with G key/value heads -> [N, H * J]. Query
// and key have as many sequences; sequence s of the query attends to sequence s of the key. No two
// share queries; they may share keys where nothing needs a gradient. A query
// that may see nothing gives zeros, and zero gradients. Exact, blocked: memory grows with N + M,
// not N * M, unless a view wants the weights. The result has the same bits with a view and
// without.
Tensor attention(const Packed& query, const Packed& key, const Tensor& value,
                 const AttentionMask& mask, const AttentionOptions& options,
                 AttentionView* view = nullptr);

// The same for keys and values in pages, to the bit. For decoding: refuses inputs that need a
// gradient.
Tensor attention(const Packed& query, const PagedKeys& memory, const AttentionMask& mask,
                 const AttentionOptions& options, AttentionView* view = nullptr);

// Self-attention without parameters: queries, keys and values are the rows themselves, so that with
// one head the result is softmax(x x^T / sqrt(D)) x. x [N, D] -> [N, D].
Tensor self_attention(const Packed& x, const AttentionMask& mask = AttentionMask::none(),
                      const AttentionOptions& options = {}, AttentionView* view = nullptr);

// `attention` as a composition of small operations on whole matrices: what `attention` must equal.
// Without dropout, softcap, past and bias by distance; for reading and for tests.
Tensor attention_reference(const Packed& query, const Packed& key, const Tensor& value,
                           const AttentionMask& mask, const AttentionOptions& options);

}  // namespace heed::ops
