#include "heed/models/encoder.h"

#include "heed/models/pooling.h"
#include "heed/ops/norm.h"

namespace heed::models {

Encoder::Encoder(const TransformerConfig& config, std::uint64_t seed)
    : Encoder(config, initial_weights(config, seed)) {}

Encoder::Encoder(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind), encoder_(config, initializer) {}

void Encoder::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
}

Packed Encoder::encode(const PackedIds& input, nn::ForwardContext& context) const {
  return encoder_.forward(input, context);
}

Tensor Encoder::pooled(const PackedIds& input, nn::ForwardContext& context) const {
  const Packed encoded =
      encode(puts_begin_first(config_) ? prepend(config_.tokens.begin, input) : input, context);
  const Tensor vectors = pool(encoded, config_.pooling);
  return config_.normalizes ? ops::unit_vectors(vectors, config_.model_dim) : vectors;
}

}  // namespace heed::models
