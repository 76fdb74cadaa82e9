// Patch embeddings: image patches to vectors.
#pragma once

#include "heed/core/spans.h"
#include "heed/nn/linear.h"

namespace heed::nn {

// Every patch goes through the same matrix (Dosovitskiy and others 2021, equation 1). Positions are
// the encoder's.
class PatchEmbedding {
 public:
  PatchEmbedding() = default;
  // An image has num_patches patches of patch_dim numbers each.
  PatchEmbedding(Index num_patches, Index patch_dim, Index model_dim,
                 const Initializer& initializer);

  // Patches of whole images, end to end: [N, patch_dim] -> [N, D], a sequence for each image.
  // Refuses other widths, and a number of patches that makes no whole images.
  Packed forward(const Tensor& patches) const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
  Index num_patches_ = 0;
  Index patch_dim_ = 0;
  Linear projection_;
};

}  // namespace heed::nn
