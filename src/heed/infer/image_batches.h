// Images as an image classifier reads them.
#pragma once

#include <cstdint>
#include <span>

#include "heed/core/tensor.h"
#include "heed/data/patches.h"
#include "heed/models/transformer_config.h"

namespace heed::infer {

// What the configuration of an image classifier asks for.
data::ImageShape image_shape(const models::TransformerConfig& config);
data::PatchGrid patch_grid(const models::TransformerConfig& config);

using Pixels = std::span<const std::uint8_t>;  // of one image, [height, width, channels]

// The patches of some images, each moved by its shift if there are any:
// [images * num_patches, patch_dim]. The same for any number of threads.
Tensor image_patches(std::span<const Pixels> images, const data::PatchGrid& grid,
                     std::span<const data::Shift> shifts = {});

}  // namespace heed::infer
