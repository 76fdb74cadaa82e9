#include "heed/nn/patch_embedding.h"

#include "heed/base/error.h"

namespace heed::nn {

PatchEmbedding::PatchEmbedding(Index num_patches, Index patch_dim, Index model_dim,
                               const Initializer& initializer)
    : num_patches_(num_patches),
      patch_dim_(patch_dim),
      projection_(patch_dim, model_dim, initializer) {}

Packed PatchEmbedding::forward(const Tensor& patches) const {
  check(patches.rank() == 2 && patches.dim(1) == patch_dim_ && patches.dim(0) % num_patches_ == 0,
        "patch embedding: expected patches [images * ", num_patches_, ", ", patch_dim_, "], got ",
        patches.shape());
  const Index num_images = patches.dim(0) / num_patches_;
  const std::vector<Index> lengths(static_cast<std::size_t>(num_images), num_patches_);
  return {projection_.forward(patches), Spans::of_lengths(lengths)};
}

void PatchEmbedding::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("projection", projection_);
}

}  // namespace heed::nn
