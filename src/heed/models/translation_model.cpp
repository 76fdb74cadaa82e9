#include "heed/models/translation_model.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

TranslationModel::TranslationModel(const TransformerConfig& config, std::uint64_t seed)
    : TranslationModel(config, Rng(random_key(seed, initial_step, 0))) {
  check(config.weights == WeightFormat::f32,
        "translation model: expected a beginning with f32, found ", name_of(config.weights));
}

TranslationModel TranslationModel::unset(const TransformerConfig& config) {
  return TranslationModel(config, Rng::silent());
}

TranslationModel::TranslationModel(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::translation,
        "translation model: expected an encoder and a decoder");
  embedding_ = nn::Embedding(config_.vocabulary, config_.model_dim, rng);
  if (config_.tying != Tying::all) {
    source_embedding_ = nn::Embedding(config_.vocabulary, config_.model_dim, rng);
  }
  if (config_.tying == Tying::none) {
    output_ = nn::Linear(config_.model_dim, config_.vocabulary, rng, 1, /*has_bias=*/false);
  }
  encoder_ = nn::Encoder("encoder", encoder_options(config_), rng);
  decoder_ = nn::Decoder("decoder", decoder_options(config_), rng);
}

TranslationModel TranslationModel::packed() const {
  TranslationModel copy = *this;
  nn::pack_weights(copy);
  return copy;
}

TranslationModel TranslationModel::quantize(WeightFormat format) const {
  check(format != WeightFormat::f32, "narrowed: expected fewer bits than those of f32");
  TranslationModel copy = *this;
  nn::quantize_weights(copy, format);
  copy.config_.weights = format;
  return copy;
}

void TranslationModel::visit_parameters(nn::ParameterVisitor& visitor) {
  if (source_embedding_) visitor.child("source_embedding", *source_embedding_);
  visitor.child(source_embedding_ ? "target_embedding" : "embedding", embedding_);
  visitor.child("encoder", encoder_);
  visitor.child("decoder", decoder_);
  if (output_) visitor.child("output", *output_);
}

const nn::Embedding& TranslationModel::source_embedding() const {
  return source_embedding_ ? *source_embedding_ : embedding_;
}

const Tensor& TranslationModel::output_weight() const {
  return output_ ? output_->weight() : embedding_.weight();
}

const ops::PackedMatrix& TranslationModel::packed_output() const {
  return output_ ? output_->packed() : embedding_.packed();
}

// Rows of length 1 become as large as the sinusoids that are added to them (Vaswani and others
// 2017, section 3.4).
Tensor TranslationModel::embed(const nn::Embedding& table, std::span<const int> ids) const {
  return table.forward(ids, std::sqrt(static_cast<float>(config_.model_dim)));
}

TranslationLoss TranslationModel::loss(const TranslationBatch& batch,
                                       nn::ForwardContext& context) const {
  nn::AttentionGuide guide{alignment_layer(config_), alignment_head, batch.links};
  if (!batch.links.empty()) context.set_guide(&guide);
  const Packed memory = encode(batch.source, context);
  const Tensor decoded = decode(batch.target_input, memory, context);
  context.set_guide(nullptr);
  const ops::ProjectionLoss loss =
      output_weight().is_defined()
          ? ops::projection_cross_entropy(decoded, output_weight(), Tensor(), batch.target_output,
                                          config_.label_smoothing)
          : ops::projection_cross_entropy(decoded, packed_output(), batch.target_output,
                                          config_.label_smoothing);
  if (batch.links.empty()) return {loss.loss, loss.negative_log_likelihood};
  return {ops::add(loss.loss, ops::scale(guide.loss, config_.guided_alignment)),
          loss.negative_log_likelihood};
}

Packed TranslationModel::encode(const PackedIds& source, nn::ForwardContext& context) const {
  return {encoder_.forward({embed(source_embedding(), source.ids), source.spans}, context),
          source.spans};
}

Tensor TranslationModel::decode(const PackedIds& target_input, const Packed& memory,
                                nn::ForwardContext& context) const {
  return decoder_.forward({embed(embedding_, target_input.ids), target_input.spans}, memory,
                          context);
}

Tensor TranslationModel::logits(const Tensor& decoded) const {
  const bool use_packed = is_packed() && (!is_grad_enabled() || !output_weight().is_defined());
  if (use_packed) return ops::linear(decoded, packed_output(), Tensor());
  return ops::linear(decoded, output_weight(), Tensor());
}

ops::ArgmaxProjection TranslationModel::argmax_projection() const {
  return ops::ArgmaxProjection(output_weight().is_defined() ? output_weight()
                                                            : packed_output().dequantize());
}

nn::DecoderState TranslationModel::start(const Packed& memory,
                                         std::span<const Index> rows_per_sequence) const {
  return decoder_.start(memory, rows_per_sequence);
}

Tensor TranslationModel::advance(std::span<const int> ids, nn::DecoderState& state,
                                 nn::ForwardContext& context) const {
  const NoGrad no_grad;
  return decoder_.step(embed(embedding_, ids), state, context);
}

Tensor TranslationModel::step(std::span<const int> ids, nn::DecoderState& state,
                              nn::ForwardContext& context) const {
  const NoGrad no_grad;
  return logits(advance(ids, state, context));
}

}  // namespace heed::models
