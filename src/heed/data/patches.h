// Images cut into square patches, the tokens of an image classifier.
#pragma once

#include <cstdint>
#include <span>

#include "heed/core/tensor.h"
#include "heed/data/image.h"

namespace heed::data {

// How training sees an image: mirrored left to right, then moved by some pixels, down and to the
// right, or up and left if negative. Where the moved image has no pixels, its border is repeated:
// that is a crop of the image, padded with its border.
struct Augmentation {
  bool flip = false;
  Index down = 0;
  Index right = 0;
};

// Squares of `side` pixels, row by row.
struct PatchGrid {
  PatchGrid(const ImageShape& image, Index side);  // refuses a side that does not divide the image

  Index num_patches() const { return (image.height / side) * (image.width / side); }
  Index patch_dim() const { return side * side * image.channels; }

  ImageShape image;
  Index side;
};

// The patches of one image as numbers from 0 to 1: `patches` [num_patches, patch_dim], each patch
// [side, side, channels].
void cut_patches(std::span<float> patches, std::span<const std::uint8_t> pixels,
                 const PatchGrid& grid, const Augmentation& augmentation = {});

using Pixels = std::span<const std::uint8_t>;  // of one image, [height, width, channels]

// The patches of some images, each with its augmentation if there are any:
// [images * num_patches, patch_dim]. The same for any number of threads.
Tensor image_patches(std::span<const Pixels> images, const PatchGrid& grid,
                     std::span<const Augmentation> augmentations = {});

}  // namespace heed::data
