#include "heed/data/png.h"

#include <png.h>

#include "heed/base/error.h"

namespace heed::data {
namespace {

// libpng's simplified interface: it returns errors as messages, without longjmp.
struct Decoder {
  png_image header{};

  Decoder() { header.version = PNG_IMAGE_VERSION; }
  ~Decoder() { png_image_free(&header); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

Image decode_png(std::string_view bytes, const std::string& name) {
  Decoder decoder;
  png_image& header = decoder.header;
  const bool is_readable =
      png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) != 0;
  check_as(ErrorKind::data, is_readable, name,
           ": expected a PNG image, found a broken one: ", header.message);

  const bool has_colour = (header.format & PNG_FORMAT_FLAG_COLOR) != 0;
  Image image = dark_image(header.height, header.width, has_colour ? 3 : 1, name);
  header.format = has_colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  header.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // as bright as their 8-bit copies
  const png_color white{255, 255, 255};
  const bool read = png_image_finish_read(&header, &white, image.pixels.data(), 0, nullptr) != 0;
  check_as(ErrorKind::data, read, name,
           ": expected a PNG image, found a broken one: ", header.message);
  return image;
}

}  // namespace heed::data
