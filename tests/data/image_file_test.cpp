#include "heed/data/image_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "heed/base/error.h"
#include "support/expect_error.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

using Pixels = std::vector<std::uint8_t>;

// Light from the left to the right, darker with every row.
Image slope(Index height, Index width, Index channels) {
  Image image{{height, width, channels}, {}};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      for (Index c = 0; c < channels; ++c) {
        image.pixels.push_back(static_cast<std::uint8_t>(40 + 5 * x - 2 * y + 30 * c));
      }
    }
  }
  return image;
}

class ImageFile : public testing::Test {
 protected:
  Image read(const std::string& bytes) const { return read_image(folder_.write("a", bytes)); }

  // The message, without the path.
  std::string error(const std::string& bytes) const {
    const std::string path = folder_.write("a", bytes);
    try {
      read_image(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path + ": ")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      return message.substr(std::min(message.size(), path.size() + 2));
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(ImageFile, OfPngGivesThePixelsThatWereWritten) {
  for (const Index channels : {1, 3}) {
    const Image image = slope(5, 7, channels);
    const Image found = read(png_bytes(image));
    EXPECT_EQ(found.shape, image.shape);
    EXPECT_EQ(found.pixels, image.pixels);
  }
}

TEST_F(ImageFile, OfPngMayHaveAPaletteOpacityOr16Bits) {
  EXPECT_EQ(read(png_palette_bytes(1, 3, {0, 1, 0})).pixels,
            (Pixels{255, 0, 0, 0, 0, 255, 255, 0, 0}));
  // What is transparent shows white.
  EXPECT_EQ(read(png_transparent_bytes(1, 2, {10, 255, 10, 0})).pixels, (Pixels{10, 255}));
  EXPECT_EQ(read(png_16_bit_bytes(1, 2, {0, 65535})).pixels, (Pixels{0, 255}));
}

TEST_F(ImageFile, OfJpegGivesNearlyThePixelsThatWereWritten) {
  for (const Index channels : {1, 3}) {
    const Image image = slope(16, 16, channels);
    const Image found = read(jpeg_bytes(image));
    ASSERT_EQ(found.shape, image.shape);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      EXPECT_NEAR(found.pixels[i], image.pixels[i], 12) << i;
    }
  }
}

TEST_F(ImageFile, ThatIsNoRegularFileOrFarTooLargeIsRefusedAtOnce) {
  const std::string pipe = folder_.file("pipe.png"), sparse = folder_.write("sparse.png", "");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error(ErrorKind::data, pipe + ": expected a file, found a pipe",
               [&] { read_image(pipe); });
  std::filesystem::resize_file(sparse, std::uintmax_t{20} << 30);
  expect_error(ErrorKind::data,
               sparse + ": expected a file of at most 536870912 bytes, found 21474836480",
               [&] { read_image(sparse); });
}

TEST_F(ImageFile, OfAnotherKindIsRefused) {
  EXPECT_EQ(error("some text"),
            "expected a PNG or JPEG image, found a file that starts with 73 6f 6d 65");
  EXPECT_EQ(error(""), "expected a PNG or JPEG image, found an empty file");
  EXPECT_EQ(error(jpeg_of_four_inks(8, 8)),
            "expected a JPEG image in grey or RGB, found one of 4 colours");
  EXPECT_THROW(read_image(folder_.file("absent.png")), Error);
  EXPECT_THROW(read_image(folder_.path()), Error);
}

// Deterministic noise, so that a compressed image is cut within its pixels.
Image noise(Index side) {
  Image image{{side, side, 1}, {}};
  for (unsigned i = 0, x = 1; i < static_cast<unsigned>(side * side); ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>((x = x * 1664525u + 1013904223u) >> 24));
  }
  return image;
}

TEST_F(ImageFile, ThatIsCutShortIsRefusedWhereverItIsCut) {
  for (const std::string& whole : {png_bytes(noise(16)), jpeg_bytes(noise(16))}) {
    const bool is_png = whole[0] == '\x89';
    for (std::size_t size = 8; size < whole.size() * 3 / 4; size += 5) {
      const std::string expected = is_png ? "expected a PNG image, found a broken one: "
                                          : "expected a JPEG image, found a broken one: ";
      EXPECT_TRUE(error(whole.substr(0, size)).starts_with(expected)) << size;
    }
  }
}

TEST_F(ImageFile, OfJpegIsRefusedWithoutItsEnd) {
  const std::string whole = jpeg_bytes(noise(16));
  const std::string without_end = whole.substr(0, whole.size() - 2);
  for (const std::string& bytes : {without_end, without_end + std::string(100, '\0')}) {
    EXPECT_EQ(error(bytes),
              "expected a JPEG image, found a broken one: Premature end of JPEG file");
  }
}

TEST_F(ImageFile, OfPngIsRefusedWhenAByteOfItsPixelsIsWrong) {
  std::string bytes = png_bytes(noise(16));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  EXPECT_TRUE(error(bytes).starts_with("expected a PNG image, found a broken one: "));
}

TEST_F(ImageFile, OfJpegThatClaimsToBeHugeIsRefused) {
  std::string bytes = jpeg_bytes(slope(8, 8, 1));
  const std::size_t frame = bytes.find("\xff\xc0");  // then length, precision, height, width
  ASSERT_NE(frame, std::string::npos);
  for (const std::size_t i : {5, 6, 7, 8}) bytes[frame + i] = '\xfe';
  EXPECT_EQ(error(bytes), "expected an image of 1 to 67108864 pixels, found 65278 x 65278");
}

TEST_F(ImageFile, OfPngThatClaimsToBeHugeIsRefused) {
  // A header of 60000 x 60000 grey pixels, with the checksum that belongs to it.
  std::string bytes = png_bytes(slope(8, 8, 1));
  bytes.replace(16, 8, std::string("\0\0\xea\x60\0\0\xea\x60", 8));
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()) + 12, 17);
  for (int i = 0; i < 4; ++i) bytes[29 + i] = static_cast<char>(sum >> (24 - 8 * i));
  EXPECT_EQ(error(bytes), "expected an image of 1 to 67108864 pixels, found 60000 x 60000");
}

}  // namespace
}  // namespace heed::data
