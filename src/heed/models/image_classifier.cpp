#include "heed/models/image_classifier.h"

#include "heed/ops/embedding.h"

namespace heed::models {

ImageClassifier::ImageClassifier(const TransformerConfig& config, std::uint64_t seed)
    : ImageClassifier(config, initial_weights(config, seed)) {}

ImageClassifier::ImageClassifier(const TransformerConfig& config,
                                 const nn::Initializer& initializer)
    : Model(config, kind),
      embedding_(num_patches(config), patch_dim(config), config.model_dim, initializer),
      encoder_("encoder", encoder_options(config), initializer),
      head_(config, initializer) {
  if (config.has_class_token) class_token_ = initializer.constant({1, config.model_dim}, 0);
}

void ImageClassifier::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  if (class_token_.is_defined()) visitor.parameter("class_token", class_token_);
  visitor.child("encoder", encoder_);
  head_.visit_parameters(visitor);
}

Tensor ImageClassifier::logits(const Tensor& patches, nn::ForwardContext& context) const {
  Packed embedded = embedding_.forward(patches);
  if (class_token_.is_defined()) embedded = ops::prepend_row(class_token_, embedded);
  const Packed encoded{encoder_.forward(embedded, context), embedded.spans};
  return head_.logits(head_.pool(encoded), context);
}

Loss ImageClassifier::loss(const ImageBatch& batch, nn::ForwardContext& context,
                           std::span<const float> class_weights) const {
  return head_.loss(logits(batch.patches, context), batch.classes, class_weights);
}

}  // namespace heed::models
