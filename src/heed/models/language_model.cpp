#include "heed/models/language_model.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/ops/linear.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed::models {

LanguageModel::LanguageModel(const TransformerConfig& config, std::uint64_t seed)
    : LanguageModel(config, Rng(random_key(seed, initial_step, 0))) {
  check(config.weights == WeightFormat::f32,
        "language model: expected a beginning with f32, found ", name_of(config.weights));
}

LanguageModel LanguageModel::unset(const TransformerConfig& config) {
  return LanguageModel(config, Rng::silent());
}

LanguageModel::LanguageModel(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::language, "language model: expected a decoder alone");
  embedding_ = nn::Embedding(config_.vocabulary, config_.model_dim, rng);
  if (config_.tying == Tying::none) {
    output_ = nn::Linear(config_.model_dim, config_.vocabulary, rng, 1, /*has_bias=*/false);
  }
  stack_ = nn::Encoder("decoder", decoder_options(config_), rng);
}

LanguageModel LanguageModel::packed() const {
  LanguageModel copy = *this;
  nn::pack_weights(copy);
  return copy;
}

LanguageModel LanguageModel::quantize(WeightFormat format) const {
  check(format != WeightFormat::f32, "narrowed: expected fewer bits than those of f32");
  LanguageModel copy = *this;
  nn::quantize_weights(copy, format);
  copy.config_.weights = format;
  return copy;
}

void LanguageModel::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  visitor.child("decoder", stack_);
  if (output_) visitor.child("output", *output_);
}

const Tensor& LanguageModel::output_weight() const {
  return output_ ? output_->weight() : embedding_.weight();
}

const ops::PackedMatrix& LanguageModel::packed_output() const {
  return output_ ? output_->packed() : embedding_.packed();
}

Tensor LanguageModel::embed(std::span<const int> ids) const {
  return embedding_.forward(ids, std::sqrt(static_cast<float>(config_.model_dim)));
}

LanguageLoss LanguageModel::loss(const LanguageBatch& batch, nn::ForwardContext& context) const {
  const Tensor decoded = hidden(batch.input, context);
  const ops::ProjectionLoss loss =
      output_weight().is_defined()
          ? ops::projection_cross_entropy(decoded, output_weight(), Tensor(), batch.next,
                                          config_.label_smoothing)
          : ops::projection_cross_entropy(decoded, packed_output(), batch.next,
                                          config_.label_smoothing);
  return {loss.loss, loss.negative_log_likelihood};
}

Tensor LanguageModel::hidden(const PackedIds& input, nn::ForwardContext& context) const {
  return stack_.forward({embed(input.ids), input.spans}, context,
                        ops::AttentionMask::causal_mask());
}

Tensor LanguageModel::logits(const Tensor& hidden) const {
  const bool use_packed = is_packed() && (!is_grad_enabled() || !output_weight().is_defined());
  if (use_packed) return ops::linear(hidden, packed_output(), Tensor());
  return ops::linear(hidden, output_weight(), Tensor());
}

Tensor LanguageModel::advance(const PackedIds& input, nn::StackCache& cache,
                              nn::ForwardContext& context) const {
  const NoGrad no_grad;
  return stack_.advance({embed(input.ids), input.spans}, cache, context);
}

}  // namespace heed::models
