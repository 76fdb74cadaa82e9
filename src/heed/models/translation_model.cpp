#include "heed/models/translation_model.h"

#include "heed/base/error.h"
#include "heed/nn/guided_alignment.h"
#include "heed/ops/argmax_projection.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

TranslationModel::TranslationModel(const TransformerConfig& config, std::uint64_t seed)
    : TranslationModel(config, initial_weights(config, seed)) {}

TranslationModel::TranslationModel(const TransformerConfig& config,
                                   const nn::Initializer& initializer)
    : Model(config, kind), embedding_(config.vocabulary, config.model_dim, initializer) {
  if (config.tying != Tying::all) {
    const Index its_own = config.source_vocabulary;
    source_embedding_ =
        nn::Embedding(its_own > 0 ? its_own : config.vocabulary, config.model_dim, initializer);
  }
  output_ = nn::OutputProjection(output_options(config), initializer);
  encoder_ = nn::TransformerStack("encoder", encoder_options(config), initializer);
  decoder_ = nn::TransformerStack("decoder", decoder_options(config), initializer);
}

void TranslationModel::visit_parameters(nn::ParameterVisitor& visitor) {
  if (source_embedding_) visitor.child("source_embedding", *source_embedding_);
  visitor.child(source_embedding_ ? "target_embedding" : "embedding", embedding_);
  visitor.child("encoder", encoder_);
  visitor.child("decoder", decoder_);
  visitor.child("output", output_);
}

Tensor TranslationModel::embed(const nn::Embedding& table, std::span<const int> ids) const {
  return table.forward(ids, embedding_scale(config_));
}

Loss TranslationModel::loss(const TranslationBatch& batch, nn::ForwardContext& context) const {
  if (batch.links.empty()) return cross_entropy(batch, context);
  check(!context.has_hook(), "translation model: guided alignment expects a pass without a hook");
  const nn::GuidedAlignment guide(alignment_layer(config_), alignment_head, batch.links);
  context.set_hook(&guide);
  Loss loss = cross_entropy(batch, context);
  context.set_hook(nullptr);
  loss.loss = ops::add(loss.loss, ops::scale(guide.loss(), config_.guided_alignment));
  return loss;
}

Loss TranslationModel::cross_entropy(const TranslationBatch& batch,
                                     nn::ForwardContext& context) const {
  const Packed memory = encode(batch.source, context);
  const Tensor decoded = decode(batch.target_input, memory, context);
  const ops::ProjectionLoss loss =
      output_.loss(decoded, embedding_.weight(), batch.target_output, config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Packed TranslationModel::encode(const PackedIds& source, nn::ForwardContext& context) const {
  const nn::Embedding& table = source_embedding_ ? *source_embedding_ : embedding_;
  return {encoder_.forward({embed(table, source.ids), source.spans}, context), source.spans};
}

Tensor TranslationModel::decode(const PackedIds& target_input, const Packed& memory,
                                nn::ForwardContext& context) const {
  return decoder_.forward({embed(embedding_, target_input.ids), target_input.spans}, memory,
                          context);
}

Tensor TranslationModel::logits(const Tensor& decoded) const {
  return output_.logits(decoded, embedding_.weight());
}

ops::ArgmaxProjection TranslationModel::argmax_projection() const {
  return output_.argmax(embedding_.weight());
}

nn::StackCache TranslationModel::start(const Packed& memory,
                                       std::span<const Index> rows_per_sequence) const {
  return decoder_.start(memory, rows_per_sequence);
}

Tensor TranslationModel::step(std::span<const int> ids, nn::StackCache& cache,
                              nn::ForwardContext& context) const {
  const NoGrad no_grad;
  const Spans one_each = Spans::of_lengths(std::vector<Index>(ids.size(), 1));
  return decoder_.step({embed(embedding_, ids), one_each}, cache, context);
}

}  // namespace heed::models
