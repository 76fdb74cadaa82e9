#include "heed/data/idx.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/gzip.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

constexpr std::uint32_t images_magic = 2051, labels_magic = 2049;

class Idx : public testing::Test {
 protected:
  template <typename Read>
  std::string error(const std::string& bytes, Read&& read) const {
    const std::string path = folder_.write("a", bytes);
    try {
      read(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ": ")) << error.what();
      return std::string(error.what()).substr(path.size() + 2);
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  std::string images_error(const std::string& bytes) const { return error(bytes, read_idx_images); }
  std::string labels_error(const std::string& bytes) const { return error(bytes, read_idx_labels); }

  TemporaryFolder folder_;
};

TEST_F(Idx, HoldsImagesAndLabels) {
  const std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
  const ImageArray images =
      read_idx_images(folder_.write("a", idx_bytes(images_magic, {2, 2, 3}, pixels)));
  EXPECT_EQ(images.count, 2);
  EXPECT_EQ(images.shape, (ImageShape{2, 3, 1}));
  EXPECT_EQ(images.pixels, pixels);
  EXPECT_EQ(read_idx_labels(folder_.write("b", idx_bytes(labels_magic, {3}, {7, 0, 9}))),
            (std::vector<std::uint8_t>{7, 0, 9}));
}

TEST_F(Idx, MayBeCompressed) {
  const std::string bytes = idx_bytes(labels_magic, {3}, {7, 0, 9});
  EXPECT_EQ(read_idx_labels(folder_.write("a.gz", gzip(bytes))),
            (std::vector<std::uint8_t>{7, 0, 9}));
}

TEST_F(Idx, RefusesTheMagicNumberOfAnotherKind) {
  EXPECT_EQ(images_error(idx_bytes(labels_magic, {1}, {7})),
            "expected an IDX file of images, with magic number 2051, found 2049");
  EXPECT_EQ(labels_error("\x89PNG\r\n"),
            "expected an IDX file of labels, with magic number 2049, found 2303741511");
}

TEST_F(Idx, RefusesFilesThatAreTooShortOrTooLong) {
  EXPECT_EQ(images_error(idx_bytes(images_magic, {1, 2}, {})),
            "expected an IDX file of images, found one that is cut short in its header");
  EXPECT_EQ(images_error(idx_bytes(images_magic, {2, 2, 2}, {1, 2, 3})),
            "expected 8 bytes of images, found 3");
  EXPECT_EQ(labels_error(idx_bytes(labels_magic, {2}, {1, 2, 3})),
            "expected 2 bytes of labels, found more");
  EXPECT_EQ(labels_error(""),
            "expected an IDX file of labels, found one that is cut short in its header");
}

TEST_F(Idx, RefusesSizesThatCannotBe) {
  EXPECT_EQ(images_error(idx_bytes(images_magic, {3, 0, 5}, {})),
            "expected images with pixels, found 3 of 5 x 0");
  EXPECT_EQ(images_error(idx_bytes(images_magic, {~0u, ~0u, ~0u}, {1})),
            "expected a size that fits 64 bits, found 18446744065119617025 x 4294967295");
  // Half a terabyte, and a gigabyte, of which a single byte is there.
  EXPECT_EQ(images_error(idx_bytes(images_magic, {1 << 27, 64, 64}, {1})),
            "expected at most 4294967296 bytes of images, found 549755813888");
  EXPECT_EQ(images_error(idx_bytes(images_magic, {1 << 18, 64, 64}, {1})),
            "expected 1073741824 bytes of images, found 1");
  EXPECT_EQ(labels_error(idx_bytes(labels_magic, {0}, {})), "expected labels, found none");
}

}  // namespace
}  // namespace heed::data
