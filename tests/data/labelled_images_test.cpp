#include "heed/data/labelled_images.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

using Labels = std::vector<std::string>;
using Pixels = std::vector<std::uint8_t>;

constexpr ImageShape two_by_two{2, 2, 1};

Image plain(Index height, Index width, std::uint8_t grey) {
  return {{height, width, 1}, Pixels(static_cast<std::size_t>(height * width), grey)};
}

class LabelledImagesTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    folder_.write(name, bytes);
  }

  LabelledImages read(ImagePart part = ImagePart::train, const Labels& labels = {}) const {
    return LabelledImages::read(folder_.path(), part, two_by_two, labels);
  }

  // The message, with DIR for the folder.
  std::string error(ImagePart part = ImagePart::train, const Labels& labels = {}) const {
    try {
      read(part, labels);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      std::string message = error.what();
      if (message.starts_with(folder_.path())) message.replace(0, folder_.path().size(), "DIR");
      return message;
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  Pixels pixels(const LabelledImages& images, Index i) const {
    return {images.pixels(i).begin(), images.pixels(i).end()};
  }

  TemporaryFolder folder_;
};

TEST_F(LabelledImagesTest, HaveTheNamesOfTheirFolders) {
  add("owl/2.png", png_bytes(plain(2, 2, 20)));
  add("owl/1.jpg", jpeg_bytes(plain(4, 4, 10)));
  add("bat/a.png", png_bytes(with_channels(plain(3, 1, 30), 3)));
  add("bat/.hidden", "no image");
  const LabelledImages images = read();
  EXPECT_EQ(images.labels(), (Labels{"bat", "owl"}));
  ASSERT_EQ(images.size(), 3);
  EXPECT_EQ(images.class_of(0), 0);
  EXPECT_EQ(images.class_of(1), 1);
  EXPECT_EQ(images.class_of(2), 1);
  EXPECT_EQ(pixels(images, 0), Pixels(4, 30));
  EXPECT_EQ(pixels(images, 1), Pixels(4, 10));
  EXPECT_EQ(pixels(images, 2), Pixels(4, 20));
}

TEST_F(LabelledImagesTest, MayLieInFoldersForTrainingAndTest) {
  add("train/bat/1.png", png_bytes(plain(2, 2, 1)));
  add("train/owl/1.png", png_bytes(plain(2, 2, 2)));
  add("test/owl/1.png", png_bytes(plain(2, 2, 3)));
  EXPECT_EQ(read().size(), 2);
  const LabelledImages test = read(ImagePart::test, {"bat", "owl"});
  ASSERT_EQ(test.size(), 1);
  EXPECT_EQ(test.class_of(0), 1);
  EXPECT_EQ(pixels(test, 0), Pixels(4, 3));
}

TEST_F(LabelledImagesTest, OfMnistHaveNumbers) {
  add("train-images-idx3-ubyte", idx_bytes(2051, {2, 1, 2}, {10, 10, 20, 20}));
  add("train-labels-idx1-ubyte", idx_bytes(2049, {2}, {2, 0}));
  add("t10k-images-idx3-ubyte", idx_bytes(2051, {1, 2, 2}, {1, 2, 3, 4}));
  add("t10k-labels-idx1-ubyte", idx_bytes(2049, {1}, {1}));
  const LabelledImages images = read();
  EXPECT_EQ(images.labels(), (Labels{"0", "1", "2"}));
  EXPECT_EQ(images.class_of(0), 2);
  EXPECT_EQ(pixels(images, 1), Pixels(4, 20));
  const LabelledImages test = read(ImagePart::test, images.labels());
  EXPECT_EQ(test.class_of(0), 1);
  EXPECT_EQ(pixels(test, 0), (Pixels{1, 2, 3, 4}));
}

TEST_F(LabelledImagesTest, OfCifarHaveTheNamesOfTheirClasses) {
  for (const int batch : {1, 2, 3, 4, 5}) {
    const auto red = static_cast<std::uint8_t>(10 * batch);
    add("data_batch_" + std::to_string(batch) + ".bin",
        cifar_record(0, red, 0, 0) + cifar_record(9, red, 1, 2));
  }
  add("test_batch.bin", cifar_record(3, 7, 8, 9));
  const ImageShape colour{2, 2, 3};
  const LabelledImages images = LabelledImages::read(folder_.path(), ImagePart::train, colour);
  EXPECT_EQ(images.labels().size(), 10u);
  ASSERT_EQ(images.size(), 10);
  EXPECT_EQ(images.class_of(8), 0);
  EXPECT_EQ(images.class_of(9), 9);
  EXPECT_EQ(images.original_shape(), (ImageShape{32, 32, 3}));
  EXPECT_EQ(pixels(images, 9), (Pixels{50, 1, 2, 50, 1, 2, 50, 1, 2, 50, 1, 2}));
  add("batches.meta.txt", "bat\nowl\nemu\nfox\ncat\ndog\npig\nape\nelk\ngnu\n");
  const LabelledImages test =
      LabelledImages::read(folder_.path(), ImagePart::test, colour, {"fox", "bat"});
  ASSERT_EQ(test.size(), 1);
  EXPECT_EQ(test.labels()[static_cast<std::size_t>(test.class_of(0))], "fox");
}

TEST_F(LabelledImagesTest, OfCifarRefuseABatchThatIsMissing) {
  add("data_batch_1.bin", cifar_record(0, 1, 2, 3));
  EXPECT_TRUE(error().starts_with("DIR/data_batch_2.bin: ")) << error();
  EXPECT_TRUE(error(ImagePart::test).starts_with("DIR/test_batch.bin: "));
}

TEST_F(LabelledImagesTest, KnowTheSizeThatMostOfThemHad) {
  add("bat/1.png", png_bytes(plain(4, 5, 1)));
  add("bat/2.png", png_bytes(plain(3, 9, 1)));
  add("owl/1.png", png_bytes(plain(3, 5, 1)));
  EXPECT_EQ(read().original_shape(), (ImageShape{3, 5, 1}));
  add("owl/1.png", png_bytes(with_channels(plain(3, 5, 1), 3)));
  EXPECT_EQ(read().original_shape(), (ImageShape{3, 5, 3}));
}

TEST_F(LabelledImagesTest, AreTheSameForAnyNumberOfThreads) {
  for (int i = 0; i < 40; ++i) {
    add((i % 2 ? "a/" : "b/") + std::to_string(i) + ".png",
        png_bytes(plain(3, 3, static_cast<std::uint8_t>(i))));
  }
  const int before = num_threads();
  set_num_threads(1);
  const LabelledImages one = read();
  set_num_threads(3);
  const LabelledImages three = read();
  set_num_threads(before);
  ASSERT_EQ(one.size(), 40);
  for (Index i = 0; i < 40; ++i) EXPECT_EQ(pixels(one, i), pixels(three, i));
}

TEST_F(LabelledImagesTest, RefuseFoldersOfAnotherKind) {
  EXPECT_EQ(error(),
            "DIR: expected a folder for each class, or files of MNIST or CIFAR-10, found neither");
  add("bat/1.png", png_bytes(plain(2, 2, 1)));
  EXPECT_EQ(error(), "DIR: expected images of at least 2 classes, found 1");
  std::filesystem::create_directory(folder_.file("owl"));
  EXPECT_EQ(error(), "DIR/owl: expected images, found none");
  add("owl/readme.txt", "owls");
  EXPECT_EQ(error(),
            "DIR/owl/readme.txt: expected a PNG or JPEG image, found a file that starts "
            "with 6f 77 6c 73");
  EXPECT_THROW(LabelledImages::read(folder_.file("absent"), ImagePart::train, two_by_two), Error);
}

TEST_F(LabelledImagesTest, RefuseNamesOfClassesThatTakeMoreThanALine) {
  add("bat/1.png", png_bytes(plain(2, 2, 1)));
  add("o\nwl/1.png", png_bytes(plain(2, 2, 1)));
  EXPECT_EQ(error(),
            "DIR: expected a label on one line, without control characters, found \"o\\nwl\"");
}

TEST_F(LabelledImagesTest, RefuseMoreImagesThanThereIsMemoryFor) {
  add("bat/1.png", png_bytes(plain(2, 2, 1)));
  add("owl/1.png", png_bytes(plain(2, 2, 1)));
  const Index side = Index{1} << 31;
  try {
    LabelledImages::read(folder_.path(), ImagePart::train, {side, side, 1});
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with(folder_.path() + ": expected memory for 2"))
        << error.what();
  }
}

TEST_F(LabelledImagesTest, RefuseClassesThatTheModelDoesNotHave) {
  add("bat/1.png", png_bytes(plain(2, 2, 1)));
  add("emu/1.png", png_bytes(plain(2, 2, 1)));
  EXPECT_EQ(error(ImagePart::test, {"bat", "owl"}),
            "DIR: expected one of the 2 classes, found 'emu'");
}

TEST_F(LabelledImagesTest, OfMnistRefuseLabelsThatAreMissingOrTooFew) {
  add("train-images-idx3-ubyte", idx_bytes(2051, {2, 1, 2}, {10, 10, 20, 20}));
  EXPECT_EQ(error(),
            "DIR/train-images-idx3-ubyte: expected the labels beside it in a file of "
            "labels-idx1-ubyte, found none");
  add("train-labels-idx1-ubyte", idx_bytes(2049, {1}, {2}));
  EXPECT_EQ(error(), "DIR/train-labels-idx1-ubyte: expected 2 labels, one for each image, found 1");
}

}  // namespace
}  // namespace heed::data
