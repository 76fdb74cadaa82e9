// The encoder: blocks of self-attention and feed-forward.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/nn/block_options.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/stack_ends.h"

namespace heed::nn {

class EncoderBlock {
 public:
  EncoderBlock(const std::string& name, const BlockOptions& options, Rng& rng);

  // [N, D] -> [N, D]. With a cache, x continues its rows after past[s] tokens, and is added to
  // them.
  Tensor forward(const Packed& x, const ops::AttentionMask& mask, ForwardContext& context,
                 std::span<const Index> past = {}, KeyValueCache* cache = nullptr) const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
  std::string name_;
  ResidualOptions residual_;
  MultiHeadAttention self_attention_;
  Norm self_attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;
};

class Encoder {
 public:
  Encoder() = default;
  // Attention layers are called NAME.0.self_attention, NAME.1.self_attention ...
  Encoder(const std::string& name, const BlockOptions& options, Rng& rng);

  // Embedded tokens [N, D] -> [N, D]. Adds positions, then runs the blocks, then, when the blocks
  // normalise before their sub-layers, one last norm. With a causal mask this is the stack of a
  // decoder-only model: each token sees those before it.
  Tensor forward(const Packed& x, ForwardContext& context,
                 const ops::AttentionMask& mask = ops::AttentionMask::none()) const;

  // The same with a causal mask, some tokens at a time: a prompt, then what follows it.
  StackCache start(Index num_rows) const;
  // x [N, D], the next tokens of each row of the cache -> [N, D]: the same bits as those rows of
  // forward with a causal mask.
  Tensor advance(const Packed& x, StackCache& cache, ForwardContext& context) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  StackEnds ends_;
  std::vector<EncoderBlock> blocks_;
};

}  // namespace heed::nn
