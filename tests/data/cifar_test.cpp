#include "heed/data/cifar.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

constexpr ErrorKind kind = ErrorKind::data;

TEST(Cifar, HoldsImagesAndClasses) {
  const TemporaryFolder folder;
  std::string record = cifar_record(9, 1, 2, 3);
  record[1 + 33] = '\x21';         // red, second row, second pixel
  record[1 + 1024 + 33] = '\x22';  // green
  record[1 + 2 * 1024 + 33] = '\x23';
  const CifarBatch batch = read_cifar_batch(folder.write("a", cifar_record(0, 4, 5, 255) + record));
  EXPECT_EQ(batch.classes, (std::vector<std::uint8_t>{0, 9}));
  EXPECT_EQ(batch.images.count, 2);
  EXPECT_EQ(batch.images.shape, (ImageShape{32, 32, 3}));
  ASSERT_EQ(batch.images.pixels.size(), 2u * 3072);
  const auto pixel = [&](std::size_t image, std::size_t place) {
    const auto first =
        batch.images.pixels.begin() + static_cast<std::ptrdiff_t>(image * 3072 + 3 * place);
    return std::vector<std::uint8_t>(first, first + 3);
  };
  EXPECT_EQ(pixel(0, 1023), (std::vector<std::uint8_t>{4, 5, 255}));
  EXPECT_EQ(pixel(1, 32), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(pixel(1, 33), (std::vector<std::uint8_t>{0x21, 0x22, 0x23}));
}

TEST(Cifar, RefusesFilesOfAnotherFormat) {
  const TemporaryFolder folder;
  const std::string record = cifar_record(1, 2, 3, 4);
  const auto refuses = [&](const std::string& bytes, const std::string& message) {
    const std::string path = folder.write("a", bytes);
    expect_error(kind, path + message, [&] { read_cifar_batch(path); });
  };
  const std::string records = ": expected records of CIFAR-10, of 3073 bytes each, found ";
  refuses("", records + "0 bytes");
  refuses(record.substr(1), records + "3072 bytes");
  refuses(record + record + '\0', records + "6147 bytes");  // of CIFAR-100: two labels each
  refuses(record + cifar_record(10, 2, 3, 4),
          ": expected a class from 0 to 9, found 10 for image 2");
  EXPECT_THROW(read_cifar_batch(folder.file("none")), Error);
}

TEST(Cifar, ClassesHaveTheNamesOfTheFolderOrNumbers) {
  const TemporaryFolder folder;
  const std::vector<std::string> numbers{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  EXPECT_EQ(read_cifar_labels(folder.path()), numbers);
  folder.write("batches.meta.txt", "bat\nowl\nemu\nfox\ncat\ndog\npig\nape\nelk\ngnu\n\n");
  EXPECT_EQ(read_cifar_labels(folder.path())[1], "owl");
  EXPECT_EQ(read_cifar_labels(folder.path()).size(), 10u);
  const std::string path = folder.write("batches.meta.txt", "bat\nowl\n");
  expect_error(kind, path + ": expected the names of 10 classes, found 2",
               [&] { read_cifar_labels(folder.path()); });
}

}  // namespace
}  // namespace heed::data
