// Any bytes as a batch of CIFAR-10.
#include "harness.h"
#include "heed/data/cifar.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    const data::CifarBatch batch = data::read_cifar_batch(fuzz::folder().write("cifar", input));
    fuzz::require(std::ssize(batch.classes) == batch.images.count, "a class for every image");
    fuzz::require(std::ssize(batch.images.pixels) == batch.images.count * batch.images.shape.size(),
                  "as many pixels as the images have");
  });
}
