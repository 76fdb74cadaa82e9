#include "heed/data/image.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/io/checked_size.h"

namespace heed::data {
namespace {

constexpr std::uint64_t max_pixels = std::uint64_t{1} << 26;

// The pixels along one axis that one pixel of the result is mixed from.
struct Mixture {
  Index begin = 0;
  std::vector<float> weights;  // they sum to 1
};

// Pixel i covers [i, i + 1). Shrinking, the triangle reaches over as many pixels as fall into one;
// growing, over the two neighbours of a place.
std::vector<Mixture> mixtures(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  std::vector<Mixture> mixtures;
  for (Index i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const Index begin = std::max<Index>(0, static_cast<Index>(std::floor(center - reach + 0.5)));
    const Index end = std::min<Index>(from, static_cast<Index>(std::floor(center + reach + 0.5)));
    Mixture mixture{.begin = begin, .weights = {}};
    double total = 0;
    for (Index j = begin; j < end; ++j) {
      const double distance = std::abs(static_cast<double>(j) + 0.5 - center) / reach;
      mixture.weights.push_back(static_cast<float>(std::max(0.0, 1.0 - distance)));
      total += mixture.weights.back();
    }
    for (float& weight : mixture.weights) weight = static_cast<float>(weight / total);
    mixtures.push_back(std::move(mixture));
  }
  return mixtures;
}

// Rows of `from` mixed to as many as there are mixtures; a row has `cols` values.
template <typename Value>
std::vector<float> mixed_rows(const std::vector<Value>& from, const std::vector<Mixture>& rows,
                              Index cols) {
  std::vector<float> to;
  to.reserve(rows.size() * static_cast<std::size_t>(cols));
  for (const Mixture& row : rows) {
    for (Index col = 0; col < cols; ++col) {
      float sum = 0;
      for (std::size_t k = 0; k < row.weights.size(); ++k) {
        sum += row.weights[k] * from[(row.begin + static_cast<Index>(k)) * cols + col];
      }
      to.push_back(sum);
    }
  }
  return to;
}

// The pixels of each row mixed in the same way: [rows, columns, channels].
std::vector<float> mixed_columns(const std::vector<float>& from, Index rows, Index from_width,
                                 const std::vector<Mixture>& columns, Index channels) {
  std::vector<float> to;
  to.reserve(static_cast<std::size_t>(rows * channels) * columns.size());
  for (Index row = 0; row < rows; ++row) {
    const std::vector<float> one(from.begin() + row * from_width * channels,
                                 from.begin() + (row + 1) * from_width * channels);
    const std::vector<float> mixed = mixed_rows(one, columns, channels);
    to.insert(to.end(), mixed.begin(), mixed.end());
  }
  return to;
}

std::uint8_t round_pixel(float value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

}  // namespace

Image dark_image(std::uint64_t height, std::uint64_t width, std::uint64_t channels,
                 const std::string& name) {
  const std::uint64_t pixels = (io::CheckedSize(height, name, ErrorKind::data) * width).value();
  check_as(ErrorKind::data, pixels >= 1 && pixels <= max_pixels, name,
           ": expected an image of 1 to ", max_pixels, " pixels, found ", width, " x ", height);
  const ImageShape shape{static_cast<Index>(height), static_cast<Index>(width),
                         static_cast<Index>(channels)};
  return {shape, std::vector<std::uint8_t>(static_cast<std::size_t>(shape.size()))};
}

Image with_channels(const Image& image, Index channels) {
  check(channels == 1 || channels == 3, "image: expected 1 or 3 channels, got ", channels);
  const ImageShape& from = image.shape;
  if (from.channels == channels) return image;
  Image other{{from.height, from.width, channels}, {}};
  other.pixels.reserve(static_cast<std::size_t>(other.shape.size()));
  for (std::size_t i = 0; i < image.pixels.size(); i += static_cast<std::size_t>(from.channels)) {
    const std::uint8_t* pixel = image.pixels.data() + i;
    if (channels == 3) {
      other.pixels.insert(other.pixels.end(), 3, *pixel);
    } else {
      other.pixels.push_back(
          round_pixel(0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]));
    }
  }
  return other;
}

Image resize(const Image& image, Index height, Index width) {
  check(height >= 1 && width >= 1, "image: expected a size of at least 1 x 1, got ", width, " x ",
        height);
  const ImageShape& from = image.shape;
  if (from.height == height && from.width == width) return image;
  const std::vector<float> rows =
      mixed_rows(image.pixels, mixtures(from.height, height), from.width * from.channels);
  const std::vector<float> mixed =
      mixed_columns(rows, height, from.width, mixtures(from.width, width), from.channels);
  Image other{{height, width, from.channels}, {}};
  other.pixels.resize(mixed.size());
  std::ranges::transform(mixed, other.pixels.begin(), round_pixel);
  return other;
}

Image with_shape(const Image& image, const ImageShape& shape) {
  return resize(with_channels(image, shape.channels), shape.height, shape.width);
}

}  // namespace heed::data
