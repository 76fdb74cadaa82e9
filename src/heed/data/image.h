// Images as bytes: creation, resizing, conversion between grey and colour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::data {

struct ImageShape {
  Index height = 0;
  Index width = 0;
  Index channels = 1;  // 1: grey, 3: red, green, blue

  Index size() const { return height * width * channels; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

// A byte from 0 (dark) to 255 for every channel of every pixel: a float would take four times the
// memory, and a corpus of images stays in memory. patches.h scales it to [0, 1].
struct Image {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;  // [height, width, channels]
};

// Images of one shape, end to end.
struct ImageArray {
  Index count = 0;
  ImageShape shape;
  std::vector<std::uint8_t> pixels;  // [count, height, width, channels]
};

// A dark image. The sizes may come from a file: refuses (ErrorKind::data), with `name`, an image
// without pixels and one with more than 64 million, before it takes memory for them.
Image dark_image(std::uint64_t height, std::uint64_t width, std::uint64_t channels,
                 const std::string& name);

// Grey becomes colour by three equal channels, colour becomes grey by its luma (ITU-R BT.601).
Image with_channels(const Image& image, Index channels);

// Every pixel of the result is a weighted mean of those it covers: smooth when an image shrinks, an
// interpolation when it grows, the same bytes when it keeps its size. The bytes are those of the
// library Pillow.
enum class Resampling { bilinear, bicubic };
Image resize(const Image& image, Index height, Index width,
             Resampling resampling = Resampling::bilinear);

// Resized and converted to the input shape of a model.
Image with_shape(const Image& image, const ImageShape& shape,
                 Resampling resampling = Resampling::bilinear);

}  // namespace heed::data
