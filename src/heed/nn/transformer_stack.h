// A stack of Transformer blocks with positions before it and, unless norms are after, a norm at its
// end.
//
// Without a causal mask it is an encoder; causal, the decoder of a decoder-only model; causal with
// cross-attention, the decoder of an encoder-decoder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/nn/linear.h"
#include "heed/nn/relative_position_bias.h"
#include "heed/nn/stack_cache.h"
#include "heed/nn/transformer_block.h"

namespace heed::nn {

class TransformerStack {
 public:
  TransformerStack() = default;
  // Attention layers are called NAME.0.self_attention, NAME.0.cross_attention, ...
  TransformerStack(const std::string& name, const TransformerOptions& options,
                   const Initializer& initializer);

  // Embedded tokens [N, D] of whole sequences -> [N, D]; with cross-attention to a memory [M, D].
  // Embedded tokens are as wide as the options say: [N, E] or [N, D].
  Tensor forward(const Packed& x, ForwardContext& context) const;
  Tensor forward(const Packed& x, const Packed& memory, ForwardContext& context) const;

  // Decoding with a KV cache: `start`, then `step` with the next tokens of every row. A causal
  // stack only.
  StackCache start(Index num_rows) const;
  // Sequence s of the memory starts with rows_per_sequence[s] equal rows.
  StackCache start(const Packed& memory, std::span<const Index> rows_per_sequence) const;
  // x [N, D], sequence r of it continues row r -> [N, D]: the same bits as those rows of forward.
  Tensor step(const Packed& x, StackCache& cache, ForwardContext& context) const;

  void visit_parameters(ParameterVisitor& visitor);
  // Of embeddings of another width, with their positions and norm: E -> D. The
  // model visits it, beside its embedding.
  Linear& embedding_projection() { return embedding_projection_; }

 private:
  // Layers with the weights of the first get them again, as a visitor may have replaced them.
  void share_first_block();
  // [N, E] -> [N, D]: positions and dropout before the blocks. [N, D] -> [N, D]: the norm after
  // them.
  Tensor embed(const Packed& x, ForwardContext& context, std::span<const Index> past = {}) const;
  Tensor final_norm(const Tensor& x, ForwardContext& context) const;

  std::string name_;
  TransformerOptions options_;
  PositionEmbedding positions_;
  RelativePositionBias relative_positions_;
  std::vector<TransformerBlock> blocks_;
  Norm embedding_norm_;  // if the options have one
  Norm norm_;            // likewise
  Linear embedding_projection_;
};

}  // namespace heed::nn
