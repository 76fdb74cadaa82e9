// Multi-head attention with its four matrices.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heed/core/spans.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"
#include "heed/nn/positions.h"
#include "heed/ops/attention.h"

namespace heed::nn {

struct MultiHeadAttentionOptions {
  Index model_dim = 0;
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as many as query heads; otherwise a divisor of num_heads
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  // In place of the similarity's own. Cosines lie in [-1, 1], too close together for a softmax to
  // tell them apart, so a layer multiplies them by default_cosine_scale.
  std::optional<float> scale = std::nullopt;
  float softcap = 0;
  Positions positions = Positions::none;  // rotary and alibi act here; the others do nothing
  float dropout = 0;                      // on the weights
};

inline constexpr float default_cosine_scale = 10;

// Keys [M, G * K] and values [M, G * K] of the same rows, with G key/value heads.
struct KeysAndValues {
  Packed keys;
  Tensor values;
  Index num_heads = 1;
};

class MultiHeadAttention {
 public:
  MultiHeadAttention() = default;
  // `name` is what a watcher knows this layer by: decoder.2.cross_attention.
  MultiHeadAttention(std::string name, const MultiHeadAttentionOptions& options, Rng& rng);

  // query [N, D], memory [M, D] -> [N, D]. Sequence s of the query attends to sequence s of memory.
  Tensor forward(const Packed& query, const Packed& memory, const ops::AttentionMask& mask,
                 ForwardContext& context) const;

  // The two halves of forward, for keys and values that are kept. past[s] tokens of sequence s came
  // before these; none when empty. positions: of each query row in its sequence, for the context's
  // hook; consecutive after the past when empty.
  KeysAndValues keys_and_values(const Packed& memory, std::span<const Index> past = {}) const;
  Tensor attend(const Packed& query, const KeysAndValues& memory, const ops::AttentionMask& mask,
                ForwardContext& context, std::span<const Index> past = {},
                std::span<const Index> positions = {}) const;
  Tensor attend(const Packed& query, const ops::PagedKeys& memory, const ops::AttentionMask& mask,
                ForwardContext& context, std::span<const Index> past = {}) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  Packed queries(const Packed& x, ForwardContext& context, std::span<const Index> past) const;
  // What the context's hook is told of this call; nothing without a hook.
  std::optional<AttentionCall> call_of(const Spans& queries, std::vector<Index> key_lengths,
                                       const ForwardContext& context, std::span<const Index> past,
                                       std::span<const Index> positions = {}) const;
  // The heads' outputs through the output matrix, [N, D] -> [N, D].
  Tensor project_heads(const Tensor& heads, const std::optional<AttentionCall>& call,
                       ForwardContext& context) const;
  ops::AttentionOptions attention_options(ForwardContext& context,
                                          std::span<const Index> past) const;
  Tensor apply_rotary(const Packed& x, Index num_heads, std::span<const Index> past) const;

  std::string name_;
  MultiHeadAttentionOptions options_;
  Index head_dim_ = 0;
  Linear query_, key_, value_, output_;
};

}  // namespace heed::nn
