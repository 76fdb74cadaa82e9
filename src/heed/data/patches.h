// Images cut into square patches, the tokens of an image classifier.
#pragma once

#include <array>
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

// The number that each byte of a channel stands for: from 0 to 1, unless a model wants others.
struct PixelValues {
  PixelValues();
  std::array<std::array<float, 256>, 3> of_channel;
};

// The patches of one image as numbers: `patches` [num_patches, patch_dim], each patch
// [side, side, channels].
void cut_patches(std::span<float> patches, std::span<const std::uint8_t> pixels,
                 const PatchGrid& grid, const PixelValues& values,
                 const Augmentation& augmentation = {});

using Pixels = std::span<const std::uint8_t>;  // of one image, [height, width, channels]

// The patches of some images, each with its augmentation if there are any:
// [images * num_patches, patch_dim]. The same for any number of threads.
Tensor image_patches(std::span<const Pixels> images, const PatchGrid& grid,
                     const PixelValues& values, std::span<const Augmentation> augmentations = {});

}  // namespace heed::data
