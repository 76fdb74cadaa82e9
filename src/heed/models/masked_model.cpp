#include "heed/models/masked_model.h"

#include "heed/ops/embedding.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

MaskedModel::MaskedModel(const TransformerConfig& config, std::uint64_t seed)
    : MaskedModel(config, initial_weights(config, seed)) {}

MaskedModel::MaskedModel(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind),
      encoder_(config, initializer),
      output_(output_options(config), initializer) {}

void MaskedModel::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  visitor.child("output", output_);
}

Loss MaskedModel::loss(const MaskedBatch& batch, nn::ForwardContext& context) const {
  const Tensor rows = ops::gather_rows(encode(batch.input, context).values, batch.places);
  const ops::ProjectionLoss loss =
      output_.loss(rows, encoder_.embedding_weight(), batch.hidden, config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Packed MaskedModel::encode(const PackedIds& input, nn::ForwardContext& context) const {
  return encoder_.forward(input, context);
}

Tensor MaskedModel::logits(const Tensor& encoded) const {
  return output_.logits(encoded, encoder_.embedding_weight());
}

}  // namespace heed::models
