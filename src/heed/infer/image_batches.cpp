#include "heed/infer/image_batches.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::infer {
namespace {

constexpr Index images_per_piece = 16;

}  // namespace

data::ImageShape image_shape(const models::TransformerConfig& config) {
  return {config.image_height, config.image_width, config.image_channels};
}

data::PatchGrid patch_grid(const models::TransformerConfig& config) {
  return {image_shape(config), config.patch_side};
}

Tensor image_patches(std::span<const Pixels> images, const data::PatchGrid& grid,
                     std::span<const data::Shift> shifts) {
  check(shifts.empty() || shifts.size() == images.size(), "image patches: expected ", images.size(),
        " shifts, one for each image, got ", shifts.size());
  const auto count = static_cast<Index>(images.size());
  Tensor patches = Tensor::empty({count * grid.num_patches(), grid.patch_dim()});
  const auto size = static_cast<std::size_t>(grid.image.size());
  parallel_ranges(count, images_per_piece, [&, values = patches.values()](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      data::cut_patches(values.subspan(i * size, size), images[i], grid,
                        shifts.empty() ? data::Shift{} : shifts[i]);
    }
  });
  return patches;
}

}  // namespace heed::infer
