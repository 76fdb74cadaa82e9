#include "heed/models/text_encoder.h"

#include <cmath>

namespace heed::models {

TextEncoder::TextEncoder(const TransformerConfig& config, const nn::Initializer& initializer)
    : embedding_(config.vocabulary, config.model_dim, initializer),
      encoder_("encoder", encoder_options(config), initializer),
      embedding_scale_(std::sqrt(static_cast<float>(config.model_dim))) {}

Packed TextEncoder::forward(const PackedIds& input, nn::ForwardContext& context) const {
  const Tensor embedded = embedding_.forward(input.ids, embedding_scale_);
  return {encoder_.forward({embedded, input.spans}, context), input.spans};
}

void TextEncoder::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  visitor.child("encoder", encoder_);
}

}  // namespace heed::models
