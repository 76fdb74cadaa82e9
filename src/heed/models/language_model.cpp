#include "heed/models/language_model.h"

#include <cmath>

#include "heed/ops/embedding.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

LanguageModel::LanguageModel(const TransformerConfig& config, std::uint64_t seed)
    : LanguageModel(config, initial_weights(config, seed)) {}

LanguageModel::LanguageModel(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind), embedding_(config.vocabulary, config.model_dim, initializer) {
  if (config.tying == Tying::none) {
    output_ = nn::OutputProjection(config.model_dim, config.vocabulary, initializer);
  }
  decoder_ = nn::TransformerStack("decoder", decoder_options(config), initializer);
}

void LanguageModel::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  visitor.child("decoder", decoder_);
  visitor.child("output", output_);
}

Tensor LanguageModel::embed(std::span<const int> ids) const {
  return embedding_.forward(ids, std::sqrt(static_cast<float>(config_.model_dim)));
}

Loss LanguageModel::loss(const LanguageBatch& batch, nn::ForwardContext& context) const {
  Tensor rows = hidden(batch.input, context);
  if (!batch.places.empty()) rows = ops::gather_rows(rows, batch.places);
  const ops::ProjectionLoss loss =
      output_.loss(rows, embedding_.weight(), batch.next, config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Tensor LanguageModel::hidden(const PackedIds& input, nn::ForwardContext& context) const {
  return decoder_.forward({embed(input.ids), input.spans}, context);
}

Tensor LanguageModel::logits(const Tensor& hidden) const {
  return output_.logits(hidden, embedding_.weight());
}

Tensor LanguageModel::step(const PackedIds& input, nn::StackCache& cache,
                           nn::ForwardContext& context) const {
  const NoGrad no_grad;
  return decoder_.step({embed(input.ids), input.spans}, cache, context);
}

}  // namespace heed::models
