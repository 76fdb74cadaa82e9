// The images that a classifier reads, and the patches that it cuts them into.
#pragma once

#include "heed/data/patches.h"
#include "heed/models/transformer_config.h"

namespace heed::infer {

inline data::PatchGrid patch_grid(const models::TransformerConfig& config) {
  return {{config.image_height, config.image_width, config.image_channels}, config.patch_side};
}

}  // namespace heed::infer
