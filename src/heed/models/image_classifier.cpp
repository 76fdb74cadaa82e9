#include "heed/models/image_classifier.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"

namespace heed::models {

ImageClassifier::ImageClassifier(const TransformerConfig& config, std::uint64_t seed)
    : ImageClassifier(config, Rng(random_key(seed, initial_step, 0))) {}

ImageClassifier ImageClassifier::unset(const TransformerConfig& config) {
  return ImageClassifier(config, Rng::silent());
}

ImageClassifier::ImageClassifier(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::image_classifier && !config_.labels.empty(),
        "image classifier: expected an encoder of images alone, with labels");
  embedding_ = nn::PatchEmbedding(num_patches(config_), patch_dim(config_), config_.model_dim, rng);
  encoder_ = nn::Encoder("encoder", encoder_options(config_), rng);
  head_ = ClassHead(config_, rng);
}

void ImageClassifier::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  visitor.child("encoder", encoder_);
  head_.visit_parameters(visitor);
}

Tensor ImageClassifier::logits(const Tensor& patches, nn::ForwardContext& context) const {
  const Packed embedded = embedding_.forward(patches);
  const Packed encoded{encoder_.forward(embedded, context), embedded.spans};
  return head_.logits(head_.pooled(encoded), context);
}

ClassifierLoss ImageClassifier::loss(const ImageBatch& batch, nn::ForwardContext& context,
                                     std::span<const float> class_weights) const {
  return head_.loss(logits(batch.patches, context), batch.classes, class_weights);
}

}  // namespace heed::models
