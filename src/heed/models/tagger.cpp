#include "heed/models/tagger.h"

#include "heed/models/class_loss.h"
#include "heed/ops/embedding.h"

namespace heed::models {

Tagger::Tagger(const TransformerConfig& config, std::uint64_t seed)
    : Tagger(config, initial_weights(config, seed)) {}

Tagger::Tagger(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind), encoder_(config, initializer), head_(config, initializer) {}

void Tagger::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  head_.visit_parameters(visitor);
}

Loss Tagger::loss(const TaggerBatch& batch, nn::ForwardContext& context,
                  std::span<const float> tag_weights) const {
  return class_loss(logits(batch.input, batch.places, context), batch.tags, config_.label_smoothing,
                    tag_weights);
}

Packed Tagger::encode(const PackedIds& input, nn::ForwardContext& context) const {
  return encoder_.forward(input, context);
}

Tensor Tagger::logits(const PackedIds& input, std::span<const Index> places,
                      nn::ForwardContext& context) const {
  const Tensor words = ops::gather_rows(encode(input, context).values, places);  // [words, D]
  return head_.forward(words, context);
}

}  // namespace heed::models
