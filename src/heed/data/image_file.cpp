#include "heed/data/image_file.h"

#include "heed/base/error.h"
#include "heed/data/jpeg.h"
#include "heed/data/png.h"
#include "heed/io/files.h"

namespace heed::data {
namespace {

// More than the largest image has that is decoded, at two bytes for each of four channels.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 29;

// The first bytes, for a message: "89 50 4e 47".
std::string first_bytes(std::string_view bytes) {
  if (bytes.empty()) return "an empty file";
  constexpr char digits[] = "0123456789abcdef";
  std::string shown = "a file that starts with";
  for (const char c : bytes.substr(0, 4)) {
    const auto byte = static_cast<unsigned char>(c);
    shown.append({' ', digits[byte >> 4], digits[byte & 15]});
  }
  return shown;
}

}  // namespace

Image read_image(const std::string& path) {
  const std::string bytes = io::read_file(path, ErrorKind::data, max_bytes);
  if (is_png(bytes)) return decode_png(bytes, path);
  check_as(ErrorKind::data, is_jpeg(bytes), path, ": expected a PNG or JPEG image, found ",
           first_bytes(bytes));
  return decode_jpeg(bytes, path);
}

}  // namespace heed::data
