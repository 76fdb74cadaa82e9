// Any bytes as a PNG image, which is then resized.
#include "harness.h"
#include "heed/data/png.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    const data::Image image = data::decode_png(input, "image");
    fuzz::require(std::ssize(image.pixels) == image.shape.size(),
                  "as many pixels as the image has");
    if (image.shape.size() <= 1 << 16) data::with_shape(image, {8, 8, 3});
  });
}
