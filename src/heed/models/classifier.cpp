#include "heed/models/classifier.h"

#include "heed/base/error.h"

namespace heed::models {
Classifier::Classifier(const TransformerConfig& config, std::uint64_t seed)
    : Classifier(config, initial_weights(config, seed)) {}

Classifier::Classifier(const TransformerConfig& config, const nn::Initializer& initializer)
    : Model(config, kind), encoder_(config, initializer), head_(config, initializer) {}

void Classifier::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  head_.visit_parameters(visitor);
}

Tensor Classifier::pooled(const PackedIds& input, nn::ForwardContext& context) const {
  if (!puts_begin_first(config_)) return head_.pool(encoder_.forward(input, context));
  return head_.pool(encoder_.forward(prepend(config_.tokens.begin, input), context));
}

Tensor Classifier::logits(const PackedIds& input, nn::ForwardContext& context) const {
  return head_.logits(pooled(input, context), context);
}

Loss Classifier::loss(const ClassifierBatch& batch, nn::ForwardContext& context,
                      std::span<const float> class_weights) const {
  const Tensor logits = this->logits(batch.input, context);
  if (config_.problem_type == ProblemType::single_label) {
    return head_.loss(logits, batch.classes, class_weights);
  }
  check(class_weights.empty(), "classifier: expected no class weights for ",
        name_of(config_.problem_type), ", got ", class_weights.size());
  return head_.loss(logits, batch.targets);
}

}  // namespace heed::models
