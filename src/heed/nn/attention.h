// Multi-head attention with its four linear layers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heed/core/spans.h"
#include "heed/nn/block_form.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/ops/attention.h"

namespace heed::nn {

class KeyValueCache;
struct KeysAndValues;

struct MultiHeadAttentionOptions {
  Index model_dim = 0;
  Index num_heads = 1;
  Index num_key_value_heads = 0;  // 0: as many as query heads; otherwise a divisor of num_heads
  Index head_dim = 0;             // 0: model_dim / num_heads
  AttentionBias bias = AttentionBias::all;
  ops::Similarity similarity = ops::Similarity::scaled_dot;
  // In place of the similarity's own. Cosines lie in [-1, 1], too close together for a softmax to
  // tell them apart, so a layer multiplies them by default_cosine_scale.
  std::optional<float> scale = std::nullopt;
  float softcap = 0;
  Positions positions = Positions::none;  // rotary and alibi act here; the others do nothing
  ops::RotaryFrequencies rotary = {};     // dim 0: head_dim
  // Of every head's queries and keys, before RoPE (Qwen 3).
  std::optional<NormOptions> query_key_norm = std::nullopt;
  float dropout = 0;  // on the weights
};

inline constexpr float default_cosine_scale = 10;

class MultiHeadAttention {
 public:
  MultiHeadAttention() = default;
  // `name` is what watchers and hooks know this layer by: decoder.2.cross_attention.
  MultiHeadAttention(std::string name, const MultiHeadAttentionOptions& options,
                     const Initializer& initializer);
  // For a layer that shares its weights with another: its own name and scale.
  void set_layer(std::string name, std::optional<float> scale);

  // query [N, D], memory [M, D] -> [N, D]. Sequence s of the query attends to sequence s of memory.
  Tensor forward(const Packed& query, const Packed& memory, const ops::AttentionMask& mask,
                 ForwardContext& context) const;

  // x [N, D] attends to itself -> [N, D]. With a cache, sequence s of x continues row s, which has
  // past[s] tokens, and is appended to it; a query sees what the mask allows of both.
  Tensor self_attend(const Packed& x, const ops::AttentionMask& mask, ForwardContext& context,
                     std::span<const Index> past = {}, KeyValueCache* cache = nullptr) const;

  // The two halves of forward, for keys and values that are kept. past[s] tokens of sequence s came
  // before these; none when empty. positions: of each query row in its sequence, for hooks;
  // consecutive after the past when empty.
  KeysAndValues keys_and_values(const Packed& memory, std::span<const Index> past = {}) const;
  Tensor attend(const Packed& query, const KeysAndValues& memory, const ops::AttentionMask& mask,
                ForwardContext& context, std::span<const Index> past = {},
                std::span<const Index> positions = {}) const;
  Tensor attend(const Packed& query, const ops::PagedKeys& memory, const ops::AttentionMask& mask,
                ForwardContext& context, std::span<const Index> past = {}) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  Packed project_queries(const Packed& x, ForwardContext& context,
                         std::span<const Index> past) const;
  Tensor project_output(const Tensor& heads, const AttentionCall& call,
                        ForwardContext& context) const;
  Tensor norm_heads(const Tensor& x, const Norm& norm) const;
  Tensor apply_rotary(const Packed& x, Index num_heads, std::span<const Index> past) const;
  ops::AttentionOptions attention_options(ForwardContext& context,
                                          std::span<const Index> past) const;

  std::string name_;
  MultiHeadAttentionOptions options_;
  Linear query_, key_, value_, output_;
  Norm query_norm_, key_norm_;  // if the options have one
};

}  // namespace heed::nn
