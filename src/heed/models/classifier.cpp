#include "heed/models/classifier.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
namespace {

PackedIds with_begin(const PackedIds& input) {
  std::vector<std::span<const int>> lines;
  for (const Span& span : input.spans) {
    lines.push_back(std::span(input.ids).subspan(span.begin, span.length));
  }
  return pack(lines, {.prepend = text::Tokenizer::begin});
}

}  // namespace

Classifier::Classifier(const TransformerConfig& config, std::uint64_t seed)
    : Classifier(config, Rng(random_key(seed, initial_step, 0))) {}

Classifier Classifier::unset(const TransformerConfig& config) {
  return Classifier(config, Rng::silent());
}

Classifier::Classifier(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::classifier && !config_.labels.empty(),
        "classifier: expected an encoder alone, with labels");
  encoder_ = TextEncoder(config_, rng);
  head_ = ClassHead(config_, rng);
}

void Classifier::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  head_.visit_parameters(visitor);
}

Tensor Classifier::pooled(const PackedIds& input, nn::ForwardContext& context) const {
  return head_.pooled(
      encoder_.forward(puts_begin_first(config_) ? with_begin(input) : input, context));
}

Tensor Classifier::logits(const PackedIds& input, nn::ForwardContext& context) const {
  return head_.logits(pooled(input, context), context);
}

ClassifierLoss Classifier::loss(const ClassifierBatch& batch, nn::ForwardContext& context,
                                std::span<const float> class_weights) const {
  return head_.loss(logits(batch.input, context), batch.classes, class_weights);
}

}  // namespace heed::models
