// One Transformer block: self-attention, optional cross-attention and feed-forward, each with add &
// norm.
#pragma once

#include <span>
#include <string>

#include "heed/nn/stack_cache.h"
#include "heed/nn/transformer_options.h"

namespace heed::nn {

// The inputs of a block's attention besides x.
struct BlockInputs {
  const CrossAttentionMemory* memory = nullptr;  // null without cross-attention
  std::span<const Index> past = {};  // tokens of each sequence before x; none when empty
  KeyValueCache* cache = nullptr;    // which x continues, and is appended to
};

class TransformerBlock {
 public:
  // `name`: decoder.2.
  TransformerBlock(const std::string& name, const TransformerOptions& options,
                   const Initializer& initializer);

  Tensor forward(const Packed& x, const BlockInputs& inputs, ForwardContext& context) const;
  // What cross-attention attends to, of a memory [M, D].
  KeysAndValues memory_keys_and_values(const Packed& memory) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  std::string name_;
  ResidualOptions residual_;
  ops::AttentionMask mask_;
  bool has_cross_attention_;
  MultiHeadAttention self_attention_;
  Norm self_attention_norm_;
  MultiHeadAttention cross_attention_;
  Norm cross_attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;
};

}  // namespace heed::nn
