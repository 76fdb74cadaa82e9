// The encoder-only Transformer without a head: vectors of sentences, such as those of a
// sentence-transformers folder.
#pragma once

#include <cstdint>

#include "heed/models/model.h"
#include "heed/models/text_encoder.h"

namespace heed::models {

// Nothing trains it by itself: a classifier or a tagger with its parameters can be trained.
class Encoder : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::encoder;

  Encoder(const TransformerConfig& config, std::uint64_t seed);  // random weights
  Encoder(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);  // those of TextEncoder

  Packed encode(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  // One vector for each line, [S, D], as the configuration's pooling says; of length 1 if it
  // normalizes. With pooling of the first token as Classifier::pooled.
  Tensor pooled(const PackedIds& input, nn::ForwardContext& context) const;

 private:
  TextEncoder encoder_;
};

}  // namespace heed::models
