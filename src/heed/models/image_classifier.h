// The Vision Transformer: a classifier of images, with patches in place of tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/class_head.h"
#include "heed/nn/patch_embedding.h"
#include "heed/nn/transformer_stack.h"

namespace heed::models {

// Patches of images, end to end, and the number of each image's class.
struct ImageBatch {
  Tensor patches;  // [images * num_patches, patch_dim], from 0 to 1
  std::vector<int> classes;
  Index num_images() const { return std::ssize(classes); }
};

class ImageClassifier : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::image_classifier;

  // The labels of the configuration are the classes, in that order.
  ImageClassifier(const TransformerConfig& config, std::uint64_t seed);  // random weights
  ImageClassifier(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);

  // As Classifier::loss.
  Loss loss(const ImageBatch& batch, nn::ForwardContext& context,
            std::span<const float> class_weights = {}) const;
  // Patches as in ImageBatch -> [images, classes].
  Tensor logits(const Tensor& patches, nn::ForwardContext& context) const;

 private:
  nn::PatchEmbedding embedding_;
  Tensor class_token_;  // [1, D], before the patches, or undefined
  nn::TransformerStack encoder_;
  ClassHead head_;
};

}  // namespace heed::models
