// The text encoder of all encoder-only models: token embeddings and a stack of blocks.
#pragma once

#include <optional>

#include "heed/models/packed_ids.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/embedding.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/transformer_stack.h"

namespace heed::models {

class TextEncoder {
 public:
  TextEncoder() = default;
  TextEncoder(const TransformerConfig& config, const nn::Initializer& initializer);

  // N ids, with types if the configuration has any -> [N, D].
  Packed forward(const PackedIds& input, nn::ForwardContext& context) const;
  // `embedding`, `encoder` and what else the configuration asks for, without a prefix: a
  // classifier's parameters have the names of a masked model's.
  void visit_parameters(nn::ParameterVisitor& visitor);

  // [V, D], or as wide as the embeddings.
  const nn::Weight& embedding_weight() const { return embedding_.weight(); }

 private:
  Tensor embed(const PackedIds& input) const;

  nn::Embedding embedding_;
  std::optional<nn::Embedding> token_type_embedding_;
  nn::TransformerStack encoder_;
  bool has_projection_ = false;
  float embedding_scale_ = 1;
};

}  // namespace heed::models
