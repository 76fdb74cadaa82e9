#include "heed/data/patches.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::data {
namespace {

constexpr Index images_per_task = 16;  // of one thread

}  // namespace

PatchGrid::PatchGrid(const ImageShape& image, Index side) : image(image), side(side) {
  check(side >= 1 && image.height % side == 0 && image.width % side == 0,
        "patches: expected a side that divides an image of ", image.width, " x ", image.height,
        ", got ", side);
}

PixelValues::PixelValues() {
  for (std::size_t byte = 0; byte < of_channel[0].size(); ++byte) {
    for (auto& channel : of_channel) channel[byte] = static_cast<float>(byte) / 255.0f;
  }
}

void cut_patches(std::span<float> patches, std::span<const std::uint8_t> pixels,
                 const PatchGrid& grid, const PixelValues& values,
                 const Augmentation& augmentation) {
  const auto [height, width, channels] = grid.image;
  check(std::ssize(pixels) == grid.image.size(), "patches: expected an image of ",
        grid.image.size(), " bytes, got ", pixels.size());
  check(std::ssize(patches) == grid.image.size(), "patches: expected room for ", grid.image.size(),
        " values, got ", patches.size());
  const Index patches_per_row = width / grid.side;
  for (Index y = 0; y < height; ++y) {
    const Index from_y = std::clamp<Index>(y - augmentation.down, 0, height - 1);
    for (Index x = 0; x < width; ++x) {
      const Index moved_x = std::clamp<Index>(x - augmentation.right, 0, width - 1);
      const Index from_x = augmentation.flip ? width - 1 - moved_x : moved_x;
      const Index patch = (y / grid.side) * patches_per_row + x / grid.side;
      const Index place = (y % grid.side) * grid.side + x % grid.side;
      float* to = patches.data() + patch * grid.patch_dim() + place * channels;
      const std::uint8_t* from = pixels.data() + (from_y * width + from_x) * channels;
      for (Index c = 0; c < channels; ++c) {
        to[c] = values.of_channel[static_cast<std::size_t>(c)][from[c]];
      }
    }
  }
}

Tensor image_patches(std::span<const Pixels> images, const PatchGrid& grid,
                     const PixelValues& pixel_values, std::span<const Augmentation> augmentations) {
  check(augmentations.empty() || augmentations.size() == images.size(), "image patches: expected ",
        images.size(), " augmentations, one for each image, got ", augmentations.size());
  const auto count = std::ssize(images);
  Tensor patches = Tensor::empty({count * grid.num_patches(), grid.patch_dim()});
  const auto size = static_cast<std::size_t>(grid.image.size());
  parallel_ranges(count, images_per_task, [&, values = patches.values()](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      cut_patches(values.subspan(i * size, size), images[i], grid, pixel_values,
                  augmentations.empty() ? Augmentation{} : augmentations[i]);
    }
  });
  return patches;
}

}  // namespace heed::data
