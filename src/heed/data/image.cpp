#include "heed/data/image.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/io/checked_size.h"

namespace heed::data {
namespace {

constexpr std::uint64_t max_pixels = std::uint64_t{1} << 26;

// How much a pixel at this distance counts. `reach` is the distance from which on it is nothing.
struct Filter {
  double reach;
  double (*weight)(double distance);
};

double triangle(double distance) { return std::max(0.0, 1 - distance); }

// Keys 1981, with a = -1/2.
double cubic(double distance) {
  const double x = distance;
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

Filter filter_of(Resampling resampling) {
  return resampling == Resampling::bilinear ? Filter{1, triangle} : Filter{2, cubic};
}

// Weights are whole numbers of this part of 1, so that sums are the same everywhere.
constexpr int fraction_bits = 22;
constexpr std::int64_t one = std::int64_t{1} << fraction_bits;

// The pixels along one axis that one pixel of the result is mixed from.
struct Mixture {
  Index begin = 0;
  std::vector<std::int64_t> weights;  // they sum to `one`, but for rounding
};

// Pixel i covers [i, i + 1). Shrinking, the filter reaches over as many times more pixels as fall
// into one.
std::vector<Mixture> mixtures(Index from, Index to, const Filter& filter) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(step, 1.0), reach = filter.reach * stretch;
  std::vector<Mixture> mixtures;
  for (Index i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * step;
    const Index begin = static_cast<Index>(std::max(0.0, center - reach + 0.5));
    const Index end = std::min<Index>(from, static_cast<Index>(center + reach + 0.5));
    std::vector<double> weights;
    for (Index j = begin; j < end; ++j) {
      const double distance = std::abs(static_cast<double>(j) + 0.5 - center) / stretch;
      weights.push_back(filter.weight(distance));
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    Mixture mixture{.begin = begin, .weights = {}};
    for (const double weight : weights) {
      mixture.weights.push_back(std::llround(weight / total * static_cast<double>(one)));
    }
    mixtures.push_back(std::move(mixture));
  }
  return mixtures;
}

std::uint8_t to_byte(std::int64_t sum) {
  const std::int64_t rounded = sum + one / 2;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(rounded / one, 0, 255));
}

// One axis of an image seen as [outer, size, inner], mixed to [outer, mixtures, inner].
std::vector<std::uint8_t> mix(const std::vector<std::uint8_t>& from, Index outer, Index size,
                              Index inner, const std::vector<Mixture>& mixtures) {
  std::vector<std::uint8_t> to;
  to.reserve(static_cast<std::size_t>(outer * inner) * mixtures.size());
  for (Index row = 0; row < outer; ++row) {
    for (const Mixture& mixture : mixtures) {
      const Index first = (row * size + mixture.begin) * inner;
      for (Index i = 0; i < inner; ++i) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
          const Index place = first + static_cast<Index>(k) * inner + i;
          sum += mixture.weights[k] * from[static_cast<std::size_t>(place)];
        }
        to.push_back(to_byte(sum));
      }
    }
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

Image resize(const Image& image, Index height, Index width, Resampling resampling) {
  check(height >= 1 && width >= 1, "image: expected a size of at least 1 x 1, got ", width, " x ",
        height);
  const Filter filter = filter_of(resampling);
  Image other = image;
  ImageShape& shape = other.shape;
  if (shape.width != width) {
    other.pixels = mix(other.pixels, shape.height, shape.width, shape.channels,
                       mixtures(shape.width, width, filter));
    shape.width = width;
  }
  if (shape.height != height) {
    other.pixels = mix(other.pixels, 1, shape.height, width * shape.channels,
                       mixtures(shape.height, height, filter));
    shape.height = height;
  }
  return other;
}

Image with_shape(const Image& image, const ImageShape& shape, Resampling resampling) {
  return resize(with_channels(image, shape.channels), shape.height, shape.width, resampling);
}

}  // namespace heed::data
