#include "heed/data/jpeg.h"

#include <csetjmp>
#include <cstddef>
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE before it
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "heed/base/error.h"

namespace heed::data {
namespace {

// libjpeg leaves by longjmp when it meets an error. So its functions are called from `start` and
// `read` alone, in which no object with a destructor lives.
class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&manager_);
    info_.client_data = this;
    manager_.error_exit = leave;
    manager_.emit_message = leave_if_damaged;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Reads the header; false: see message().
  bool start(std::string_view bytes) {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  // Fills height x width x channels bytes; false: see message().
  bool read(std::uint8_t* pixels) {
    if (setjmp(jump_) != 0) return false;
    info_.out_color_space = channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + std::size_t{info_.output_scanline} * info_.output_width * channels();
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  unsigned height() const { return info_.image_height; }
  unsigned width() const { return info_.image_width; }
  unsigned channels() const { return info_.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3; }
  int num_inks() const { return info_.num_components; }
  const char* message() const { return message_; }

 private:
  static void leave(j_common_ptr info) {
    auto* reader = static_cast<JpegReader*>(info->client_data);
    info->err->format_message(info, reader->message_);
    std::longjmp(reader->jump_, 1);
  }
  // A warning means that pixels were made up, unless it is about bytes that are skipped.
  static void leave_if_damaged(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) leave(info);
  }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr manager_{};
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = "";
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Image decode_jpeg(std::string_view bytes, const std::string& name) {
  JpegReader reader;
  check_as(ErrorKind::data, reader.start(bytes), name,
           ": expected a JPEG image, found a broken one: ", reader.message());
  check_as(ErrorKind::data, reader.num_inks() == 1 || reader.num_inks() == 3, name,
           ": expected a JPEG image in grey or RGB, found one of ", reader.num_inks(), " colours");
  Image image = dark_image(reader.height(), reader.width(), reader.channels(), name);
  check_as(ErrorKind::data, reader.read(image.pixels.data()), name,
           ": expected a JPEG image, found a broken one: ", reader.message());
  return image;
}

}  // namespace heed::data
