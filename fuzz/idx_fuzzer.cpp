// Any bytes as IDX files of images and of labels, compressed by gzip or not.
#include "harness.h"
#include "heed/data/idx.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = [&](auto work) {
    return fuzz::test(ErrorKind::data, data, size,
                      [&](std::string_view input) { work(fuzz::folder().write("idx", input)); });
  };
  read([](const std::string& path) {
    const data::ImageArray images = data::read_idx_images(path);
    fuzz::require(std::ssize(images.pixels) == images.count * images.shape.size(),
                  "as many pixels as the images have");
  });
  return read([](const std::string& path) { data::read_idx_labels(path); });
}
