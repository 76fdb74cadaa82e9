// The encoder: blocks of self-attention and feed-forward.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/block_options.h"

namespace heed::nn {

class EncoderBlock {
 public:
  EncoderBlock(const std::string& name, const BlockOptions& options, Rng& rng);

  // [N, D] -> [N, D].
  Tensor forward(const Packed& x, const ops::AttentionMask& mask, ForwardContext& context) const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
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
  void visit_parameters(ParameterVisitor& visitor);

 private:
  BlockOptions options_;
  PositionEmbedding positions_;
  std::vector<EncoderBlock> blocks_;
  Norm norm_;  // when norm_place is before
};

}  // namespace heed::nn
