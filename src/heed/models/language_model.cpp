#include "heed/models/language_model.h"

#include "heed/ops/embedding.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

LanguageModel::LanguageModel(const TransformerConfig& config, std::uint64_t seed)
    : LanguageModel(config, initial_weights(config, seed)) {}

LanguageModel::LanguageModel(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind),
      embedding_(config.vocabulary, embedding_width(config), initializer),
      output_(output_options(config), initializer),
      decoder_("decoder", decoder_options(config), initializer) {
  if (config.embedding_dim == 0) return;
  const Index dim = config.model_dim, its_own = config.embedding_dim;
  embedding_projection_ = nn::Linear(its_own, dim, initializer, {.has_bias = false});
  hidden_projection_ = nn::Linear(dim, its_own, initializer, {.has_bias = false});
}

void LanguageModel::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  if (embedding_projection_) visitor.child("embedding_projection", *embedding_projection_);
  visitor.child("decoder", decoder_);
  if (hidden_projection_) visitor.child("hidden_projection", *hidden_projection_);
  visitor.child("output", output_);
}

Tensor LanguageModel::embed(std::span<const int> ids) const {
  const Tensor words = embedding_.forward(ids, embedding_scale(config_));
  return embedding_projection_ ? embedding_projection_->forward(words) : words;
}

Tensor LanguageModel::output_input(const Tensor& hidden) const {
  return hidden_projection_ ? hidden_projection_->forward(hidden) : hidden;
}

Loss LanguageModel::loss(const LanguageBatch& batch, nn::ForwardContext& context) const {
  Tensor rows = hidden(batch.input, context);
  if (!batch.places.empty()) rows = ops::gather_rows(rows, batch.places);
  const ops::ProjectionLoss loss =
      output_.loss(output_input(rows), embedding_.weight(), batch.next, config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Tensor LanguageModel::hidden(const PackedIds& input, nn::ForwardContext& context) const {
  return decoder_.forward({embed(input.ids), input.spans}, context);
}

Tensor LanguageModel::logits(const Tensor& hidden) const {
  return output_.logits(output_input(hidden), embedding_.weight());
}

Tensor LanguageModel::step(const PackedIds& input, nn::StackCache& cache,
                           nn::ForwardContext& context) const {
  const NoGrad no_grad;
  return decoder_.step({embed(input.ids), input.spans}, cache, context);
}

}  // namespace heed::models
