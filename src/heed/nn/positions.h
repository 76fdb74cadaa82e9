// Position encodings: sinusoidal, learned, rotary (RoPE), ALiBi or none.
//
// Sinusoidal and learned positions are added to the embeddings, by PositionEmbedding; rotary and
// ALiBi act inside self-attention, by MultiHeadAttention; with none, only a causal mask gives
// order.
#pragma once

#include <span>

#include "heed/core/spans.h"
#include "heed/nn/initializer.h"
#include "heed/nn/module.h"
#include "heed/ops/positions.h"

namespace heed::nn {

enum class Positions { sinusoidal, learned, rotary, alibi, none };

struct PositionEmbeddingOptions {
  Positions positions = Positions::none;
  Index dim = 0;
  Index max_positions = 0;  // bounds the length of learned positions; the others have no bound
  Index offset = 0;         // the table's row of position 0: 2 of OPT and BART, pad + 1 of RoBERTa
  ops::SinusoidOrder sinusoid_order = ops::SinusoidOrder::interleaved;
};

class PositionEmbedding {
 public:
  PositionEmbedding() = default;
  PositionEmbedding(const PositionEmbeddingOptions& options, const Initializer& initializer);

  // x [N, D] + the rows of its positions; x itself for the schemes that add nothing. Sequence s
  // begins at position past[s], 0 when empty.
  Tensor forward(const Packed& x, std::span<const Index> past = {}) const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
  Tensor add_table(const Packed& x, const Tensor& table, std::span<const Index> past) const;

  PositionEmbeddingOptions options_;
  Tensor weight_;  // [offset + max_positions, D]; learned only
};

// The longest position in use, plus one: max over sequences of past[s] + length.
Index num_positions(const Spans& spans, std::span<const Index> past);

// Tables of at least `length` rows, computed once for equal options and shared by all models and
// threads; they grow by doubling, and a row's values do not depend on the length of its table.
Tensor shared_sinusoidal_table(Index length, Index dim,
                               ops::SinusoidOrder order = ops::SinusoidOrder::interleaved);
ops::RotaryTable shared_rotary_table(Index length, const ops::RotaryFrequencies& frequencies);

}  // namespace heed::nn
