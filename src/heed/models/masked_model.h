// The masked language model: an encoder that predicts the masked tokens of a line.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/models/model.h"
#include "heed/models/text_encoder.h"
#include "heed/nn/output_projection.h"

namespace heed::models {

// Lines with some of their tokens masked, and these tokens.
struct MaskedBatch {
  PackedIds input;            // each line with its end token
  std::vector<Index> places;  // masked rows of the input
  std::vector<int> hidden;    // the token of each of them
  Index num_hidden() const { return std::ssize(hidden); }
};

class MaskedModel : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::masked;

  MaskedModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  MaskedModel(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);

  Loss loss(const MaskedBatch& batch, nn::ForwardContext& context) const;

  Packed encode(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  Tensor logits(const Tensor& encoded) const;  // rows of it, [n, D] -> [n, V]

 private:
  TextEncoder encoder_;
  nn::OutputProjection output_;
};

}  // namespace heed::models
