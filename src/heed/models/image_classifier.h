// The same classifier with image patches in place of words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/class_head.h"
#include "heed/nn/encoder.h"
#include "heed/nn/module.h"
#include "heed/nn/patch_embedding.h"

namespace heed::models {

// Patches of images, end to end, and the number of each image's class.
struct ImageBatch {
  Tensor patches;  // [images * num_patches, patch_dim], from 0 to 1
  std::vector<int> classes;
  Index num_images() const { return static_cast<Index>(classes.size()); }
};

class ImageClassifier {
 public:
  // The labels of the configuration are the classes, in that order.
  ImageClassifier(const TransformerConfig& config, std::uint64_t seed);  // random weights
  // Weights without values, for whoever fills them all.
  static ImageClassifier unset(const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  void visit_parameters(nn::ParameterVisitor& visitor);

  // As Classifier::loss.
  ClassifierLoss loss(const ImageBatch& batch, nn::ForwardContext& context,
                      std::span<const float> class_weights = {}) const;
  // Patches as in ImageBatch -> [images, classes].
  Tensor logits(const Tensor& patches, nn::ForwardContext& context) const;

 private:
  ImageClassifier(const TransformerConfig& config, Rng rng);

  TransformerConfig config_;
  nn::PatchEmbedding embedding_;
  nn::Encoder encoder_;
  ClassHead head_;
};

}  // namespace heed::models
