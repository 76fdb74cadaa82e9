#include "heed/models/image_classifier.h"

namespace heed::models {

ImageClassifier::ImageClassifier(const TransformerConfig& config, std::uint64_t seed)
    : ImageClassifier(config, initial_weights(config, seed)) {}

ImageClassifier::ImageClassifier(const TransformerConfig& config,
                                 const nn::Initializer& initializer)
    : Model(config, kind),
      embedding_(num_patches(config), patch_dim(config), config.model_dim, initializer),
      encoder_("encoder", encoder_options(config), initializer),
      head_(config, initializer) {}

void ImageClassifier::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  visitor.child("encoder", encoder_);
  head_.visit_parameters(visitor);
}

Tensor ImageClassifier::logits(const Tensor& patches, nn::ForwardContext& context) const {
  const Packed embedded = embedding_.forward(patches);
  const Packed encoded{encoder_.forward(embedded, context), embedded.spans};
  return head_.logits(head_.pool(encoded), context);
}

Loss ImageClassifier::loss(const ImageBatch& batch, nn::ForwardContext& context,
                           std::span<const float> class_weights) const {
  return head_.loss(logits(batch.patches, context), batch.classes, class_weights);
}

}  // namespace heed::models
