// The images that a classifier reads, the numbers that it makes of them, and the patches that it
// cuts them into.
#pragma once

#include "heed/data/patches.h"
#include "heed/models/image_preprocessor.h"
#include "heed/models/transformer_config.h"

namespace heed::infer {

inline data::PatchGrid patch_grid(const models::TransformerConfig& config) {
  return {{config.image_height, config.image_width, config.image_channels}, config.patch_side};
}

inline data::Resampling resampling(const models::ImagePreprocessor& preprocessor) {
  return preprocessor.is_bicubic ? data::Resampling::bicubic : data::Resampling::bilinear;
}

inline data::PixelValues pixel_values(const models::ImagePreprocessor& preprocessor) {
  data::PixelValues values;
  if (preprocessor.json.empty()) return values;
  for (std::size_t channel = 0; channel < values.of_channel.size(); ++channel) {
    for (std::size_t byte = 0; byte < values.of_channel[channel].size(); ++byte) {
      values.of_channel[channel][byte] =
          preprocessor.value(static_cast<std::uint8_t>(byte), channel);
    }
  }
  return values;
}

}  // namespace heed::infer
