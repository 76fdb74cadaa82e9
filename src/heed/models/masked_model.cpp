#include "heed/models/masked_model.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

MaskedModel::MaskedModel(const TransformerConfig& config, std::uint64_t seed)
    : MaskedModel(config, Rng(random_key(seed, initial_step, 0))) {}

MaskedModel MaskedModel::unset(const TransformerConfig& config) {
  return MaskedModel(config, Rng::silent());
}

MaskedModel::MaskedModel(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::masked, "masked model: expected an encoder alone");
  encoder_ = TextEncoder(config_, rng);
  if (config_.tying == Tying::none) {
    output_ = nn::Linear(config_.model_dim, config_.vocabulary, rng, 1, /*has_bias=*/false);
  }
}

void MaskedModel::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  if (output_) visitor.child("output", *output_);
}

const Tensor& MaskedModel::output_weight() const {
  return output_ ? output_->weight() : encoder_.embedding_weight();
}

MaskedLoss MaskedModel::loss(const MaskedBatch& batch, nn::ForwardContext& context) const {
  const Tensor rows = ops::gather_rows(encode(batch.input, context).values, batch.places);
  const ops::ProjectionLoss loss = ops::projection_cross_entropy(
      rows, output_weight(), Tensor(), batch.hidden, config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Packed MaskedModel::encode(const PackedIds& input, nn::ForwardContext& context) const {
  return encoder_.forward(input, context);
}

Tensor MaskedModel::logits(const Tensor& encoded) const {
  return ops::linear(encoded, output_weight(), Tensor());
}

}  // namespace heed::models
