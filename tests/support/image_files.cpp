#include "support/image_files.h"

#include <cstddef>
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE before it
#include <jpeglib.h>
#include <png.h>
// clang-format on

#include <cstdlib>
#include <stdexcept>

namespace heed {
namespace {

std::string write_png(png_uint_32 format, Index height, Index width, const void* pixels,
                      const void* palette = nullptr, png_uint_32 palette_size = 0) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(width);
  header.height = static_cast<png_uint_32>(height);
  header.format = format;
  header.colormap_entries = palette_size;
  header.flags = PNG_IMAGE_FLAG_16BIT_sRGB;
  std::string bytes(std::size_t{1} << 20, '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, pixels, 0, palette) == 0) {
    throw std::runtime_error(header.message);
  }
  bytes.resize(size);
  return bytes;
}

std::string write_jpeg(const data::Image& image, J_COLOR_SPACE space, int quality) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};  // a mistake here ends the test program
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(image.shape.width);
  info.image_height = static_cast<JDIMENSION>(image.shape.height);
  info.input_components = static_cast<int>(image.shape.channels);
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> pixels = image.pixels;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + info.next_scanline * image.shape.width * image.shape.channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const std::string bytes(reinterpret_cast<const char*>(buffer), size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return bytes;
}

}  // namespace

std::string png_bytes(const data::Image& image) {
  const png_uint_32 format = image.shape.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  return write_png(format, image.shape.height, image.shape.width, image.pixels.data());
}

std::string png_palette_bytes(Index height, Index width, const std::vector<std::uint8_t>& pixels) {
  const std::uint8_t palette[] = {255, 0, 0, 0, 0, 255};
  return write_png(PNG_FORMAT_RGB_COLORMAP, height, width, pixels.data(), palette, 2);
}

std::string png_transparent_bytes(Index height, Index width,
                                  const std::vector<std::uint8_t>& pixels) {
  return write_png(PNG_FORMAT_GA, height, width, pixels.data());
}

std::string png_16_bit_bytes(Index height, Index width, const std::vector<std::uint16_t>& pixels) {
  return write_png(PNG_FORMAT_LINEAR_Y, height, width, pixels.data());
}

std::string jpeg_bytes(const data::Image& image, int quality) {
  return write_jpeg(image, image.shape.channels == 3 ? JCS_RGB : JCS_GRAYSCALE, quality);
}

std::string jpeg_of_four_inks(Index height, Index width) {
  const data::Image image{{height, width, 4},
                          std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 4))};
  return write_jpeg(image, JCS_CMYK, 95);
}

std::string cifar_record(std::uint8_t label, std::uint8_t red, std::uint8_t green,
                         std::uint8_t blue) {
  std::string bytes(1, static_cast<char>(label));
  for (const std::uint8_t value : {red, green, blue})
    bytes.append(32 * 32, static_cast<char>(value));
  return bytes;
}

std::string idx_bytes(std::uint32_t magic, const std::vector<std::uint32_t>& sizes,
                      const std::vector<std::uint8_t>& bytes) {
  std::string file;
  const auto append = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(number >> shift);
  };
  append(magic);
  for (const std::uint32_t size : sizes) append(size);
  return file.append(bytes.begin(), bytes.end());
}

}  // namespace heed
