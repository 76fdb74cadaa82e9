// The decoder-only Transformer: the next token of a text from those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/models/model.h"
#include "heed/models/packed_ids.h"
#include "heed/nn/embedding.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"
#include "heed/nn/output_projection.h"
#include "heed/nn/transformer_stack.h"

namespace heed::models {

// Pieces of text, and the tokens that the model learns to predict from them.
struct LanguageBatch {
  PackedIds input;
  std::vector<int> next;  // the token that follows each row of `places`
  // Rows of the input, ascending. Empty: all of them. Others, such as those of a prompt, have no
  // loss.
  std::vector<Index> places = {};
};

class LanguageModel : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::language;

  LanguageModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  LanguageModel(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);
  bool is_packed() const { return output_.is_packed(embedding_.weight()); }

  // Rows without a loss are left out before the projection.
  Loss loss(const LanguageBatch& batch, nn::ForwardContext& context) const;

  // The decoder's output before the projections, [N, D], for whole sequences.
  Tensor hidden(const PackedIds& input, nn::ForwardContext& context) const;
  Tensor logits(const Tensor& hidden) const;  // [N, D] -> [N, V]

  // Some tokens at a time with a KV cache: the same bits as `hidden` of all of them at once.
  nn::StackCache start(Index num_rows) const { return decoder_.start(num_rows); }
  Tensor step(const PackedIds& input, nn::StackCache& cache, nn::ForwardContext& context) const;

 private:
  Tensor embed(std::span<const int> ids) const;     // N ids -> [N, D]
  Tensor output_input(const Tensor& hidden) const;  // [N, D] -> [N, E]

  nn::Embedding embedding_;  // [V, E]
  // D and E apart (OPT): E -> D, and back.
  std::optional<nn::Linear> embedding_projection_, hidden_projection_;
  nn::OutputProjection output_;
  nn::TransformerStack decoder_;
};

}  // namespace heed::models
