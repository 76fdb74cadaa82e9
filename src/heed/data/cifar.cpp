#include "heed/data/cifar.h"

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/require_memory.h"
#include "heed/text/lines.h"

namespace heed::data {
namespace {

constexpr int num_classes = 10, num_training_batches = 5;
constexpr ImageShape shape{32, 32, 3};
constexpr std::size_t plane_bytes = 32 * 32, record_bytes = 1 + 3 * plane_bytes;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;  // 36 times as many as there are

// Planes of red, green and blue, pixel by pixel.
void interleave(std::uint8_t* pixels, const char* planes) {
  for (std::size_t i = 0; i < plane_bytes; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      pixels[3 * i + c] = static_cast<std::uint8_t>(planes[c * plane_bytes + i]);
    }
  }
}

}  // namespace

bool is_cifar_folder(const std::string& folder) {
  return io::is_file(cifar_training_batches(folder).front()) ||
         io::is_file(cifar_test_batch(folder));
}

std::vector<std::string> cifar_training_batches(const std::string& folder) {
  std::vector<std::string> paths;
  for (int number = 1; number <= num_training_batches; ++number) {
    paths.push_back(folder + "/data_batch_" + std::to_string(number) + ".bin");
  }
  return paths;
}

std::string cifar_test_batch(const std::string& folder) { return folder + "/test_batch.bin"; }

CifarBatch read_cifar_batch(const std::string& path) {
  const std::string bytes = io::read_file(path, ErrorKind::data, max_bytes);
  check_as(ErrorKind::data, !bytes.empty() && bytes.size() % record_bytes == 0, path,
           ": expected records of CIFAR-10, of ", record_bytes, " bytes each, found ", bytes.size(),
           " bytes");
  const std::size_t count = bytes.size() / record_bytes;
  CifarBatch batch{{static_cast<Index>(count), shape, {}}, {}};
  const auto what = [&] { return std::to_string(count) + " images"; };
  io::require_memory(ErrorKind::data, path, what, [&] {
    batch.images.pixels.resize(count * 3 * plane_bytes);
    batch.classes.reserve(count);
  });
  for (std::size_t i = 0; i < count; ++i) {
    const char* record = bytes.data() + i * record_bytes;
    batch.classes.push_back(static_cast<std::uint8_t>(*record));
    check_as(ErrorKind::data, batch.classes.back() < num_classes, path,
             ": expected a class from 0 to ", num_classes - 1, ", found ",
             int{batch.classes.back()}, " for image ", i + 1);
    interleave(batch.images.pixels.data() + i * 3 * plane_bytes, record + 1);
  }
  return batch;
}

std::vector<std::string> read_cifar_labels(const std::string& folder) {
  const std::string path = folder + "/batches.meta.txt";
  std::vector<std::string> labels;
  if (io::is_file(path)) {
    labels = text::read_lines(path);
    std::erase_if(labels, text::is_blank);
  } else {
    for (int number = 0; number < num_classes; ++number) labels.push_back(std::to_string(number));
  }
  check_as(ErrorKind::data, labels.size() == num_classes, path, ": expected the names of ",
           num_classes, " classes, found ", labels.size());
  return labels;
}

}  // namespace heed::data
