// The text encoder of all encoder-only models: token embeddings and a stack of blocks.
#pragma once

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

  Packed forward(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  // `embedding` and `encoder`, without a prefix: a classifier's parameters have the names of a
  // masked model's.
  void visit_parameters(nn::ParameterVisitor& visitor);

  const nn::Weight& embedding_weight() const { return embedding_.weight(); }  // [V, D]

 private:
  nn::Embedding embedding_;
  nn::TransformerStack encoder_;
  float embedding_scale_ = 1;
};

}  // namespace heed::models
