// The preparation of an image before a network of Hugging Face reads it: preprocessor_config.json.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "heed/models/transformer_config.h"

namespace heed::models {

struct ImagePreprocessor {
  static constexpr const char* file_name = "preprocessor_config.json";

  bool is_bicubic = false;                  // how images are resized; otherwise bilinear
  double rescale = 1.0 / 255;               // of each byte
  std::array<float, 3> mean{};              // of each channel, subtracted
  std::array<float, 3> deviation{1, 1, 1};  // what the difference is divided by
  std::string json;                         // the file; empty where a folder has none

  float value(std::uint8_t byte, std::size_t channel) const {
    const auto scaled = static_cast<float>(rescale * byte);
    return (scaled - mean[channel]) / deviation[channel];
  }
};

// Without the file: from 0 to 1, bilinear. Refuses (ErrorKind::model) crops, other ways of
// resizing, and another size than the model's.
ImagePreprocessor load_image_preprocessor(const std::string& folder,
                                          const TransformerConfig& config);
// Writes the file as it was, if there was one.
void save_image_preprocessor(const std::string& folder, const ImagePreprocessor& preprocessor);

}  // namespace heed::models
