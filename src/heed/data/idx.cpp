#include "heed/data/idx.h"

#include <algorithm>
#include <array>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/checked_size.h"
#include "heed/io/compressed_file.h"
#include "heed/io/require_memory.h"

namespace heed::data {
namespace {

constexpr std::size_t piece_bytes = 1 << 20;
// All images of a file: more than any collection in this format has. A few megabytes of gzip may
// say that they are thousands of times as many.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 32;

class IdxFile {
 public:
  IdxFile(const std::string& path, const char* what)
      : path_(path), what_(what), file_(path, "an IDX file") {}

  // 0000 08 (unsigned bytes) and the number of axes.
  void expect_magic(std::uint32_t axes) {
    const std::uint32_t magic = number();
    check_as(ErrorKind::data, magic == (0x0800u | axes), path_, ": expected an IDX file of ", what_,
             ", with magic number ", 0x0800u | axes, ", found ", magic);
  }

  std::uint32_t number() {
    std::array<char, 4> bytes;
    check_as(ErrorKind::data, file_.read(bytes) == bytes.size(), path_,
             ": expected an IDX file of ", what_, ", found one that is cut short in its header");
    std::uint32_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  // Exactly this many bytes and then the end, in chunks, since the size in the header may be wrong.
  std::vector<std::uint8_t> rest(std::uint64_t size) {
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < size) {
      const std::size_t begin = bytes.size();
      bytes.resize(begin + std::min<std::uint64_t>(piece_bytes, size - begin));
      const std::size_t expected = bytes.size() - begin;
      const std::size_t count =
          file_.read({reinterpret_cast<char*>(bytes.data()) + begin, expected});
      check_as(ErrorKind::data, count == expected, path_, ": expected ", size, " bytes of ", what_,
               ", found ", begin + count);
    }
    std::array<char, 1> more;
    check_as(ErrorKind::data, file_.read(more) == 0, path_, ": expected ", size, " bytes of ",
             what_, ", found more");
    return bytes;
  }

 private:
  const std::string& path_;
  const char* what_;
  io::CompressedFile file_;
};

}  // namespace

ImageArray read_idx_images(const std::string& path) {
  IdxFile file(path, "images");
  file.expect_magic(3);
  const std::uint64_t count = file.number(), height = file.number(), width = file.number();
  check_as(ErrorKind::data, count > 0 && height > 0 && width > 0, path,
           ": expected images with pixels, found ", count, " of ", width, " x ", height);
  const auto size = io::CheckedSize(count, path, ErrorKind::data) * height * width;
  check_as(ErrorKind::data, size.value() <= max_bytes, path, ": expected at most ", max_bytes,
           " bytes of images, found ", size.value());
  ImageArray images{.count = static_cast<Index>(count),
                    .shape = {static_cast<Index>(height), static_cast<Index>(width), 1},
                    .pixels = {}};
  const auto what = [&] { return std::to_string(size.value()) + " bytes of images"; };
  images.pixels =
      io::require_memory(ErrorKind::data, path, what, [&] { return file.rest(size.value()); });
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) {
  IdxFile file(path, "labels");
  file.expect_magic(1);
  const std::uint64_t count = file.number();
  check_as(ErrorKind::data, count > 0, path, ": expected labels, found none");
  return file.rest(count);
}

}  // namespace heed::data
