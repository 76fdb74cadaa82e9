// Tokens through an encoder: what all encoder-only models begin with.
#pragma once

#include "heed/models/packed_ids.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/embedding.h"
#include "heed/nn/encoder.h"
#include "heed/nn/forward_context.h"

namespace heed::models {

class TextEncoder {
 public:
  TextEncoder() = default;
  TextEncoder(const TransformerConfig& config, Rng& rng);

  Packed forward(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  // `embedding` and `encoder`, without a name of its own before them: a classifier's parameters are
  // called like a masked model's.
  void visit_parameters(nn::ParameterVisitor& visitor);

  const Tensor& embedding_weight() const { return embedding_.weight(); }  // [V, D]

 private:
  nn::Embedding embedding_;
  nn::Encoder encoder_;
  float embedding_scale_ = 1;
};

}  // namespace heed::models
