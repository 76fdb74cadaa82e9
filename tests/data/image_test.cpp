#include "heed/data/image.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::data {
namespace {

using Pixels = std::vector<std::uint8_t>;

TEST(Image, GreyBecomesColourAndColourBecomesGrey) {
  const Image grey{{1, 2, 1}, {10, 200}};
  EXPECT_EQ(with_channels(grey, 3).pixels, (Pixels{10, 10, 10, 200, 200, 200}));
  EXPECT_EQ(with_channels(grey, 1).pixels, grey.pixels);
  const Image colours{{1, 4, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 7, 7, 7}};
  EXPECT_EQ(with_channels(colours, 1).pixels, (Pixels{76, 150, 29, 7}));
  EXPECT_THROW(with_channels(grey, 2), Error);
}

TEST(Image, KeepsItsBytesAtItsOwnSize) {
  const Image image{{2, 2, 1}, {1, 2, 3, 250}};
  EXPECT_EQ(resize(image, 2, 2).pixels, image.pixels);
}

TEST(Image, ShrinksToMeansOfWhatItCovers) {
  const Image even{{4, 4, 1}, Pixels(16, 90)};
  EXPECT_EQ(resize(even, 1, 1).pixels, (Pixels{90}));
  // The triangle of the first of two reaches over pixels 0 to 2 with 0.75, 0.75, 0.25.
  const Image row{{1, 4, 1}, {0, 70, 140, 210}};
  EXPECT_EQ(resize(row, 1, 2).pixels, (Pixels{50, 160}));
}

TEST(Image, GrowsByLinesBetweenItsPixels) {
  const Image row{{1, 2, 1}, {0, 100}};
  EXPECT_EQ(resize(row, 1, 4).pixels, (Pixels{0, 25, 75, 100}));
  const Image column{{2, 1, 1}, {0, 100}};
  EXPECT_EQ(resize(column, 4, 1).pixels, (Pixels{0, 25, 75, 100}));
}

// As Pillow does, the rows first, and each axis is rounded to bytes.
TEST(Image, RoundsAfterTheWidthAndAfterTheHeight) {
  const Image image{{2, 2, 1}, {0, 1, 1, 1}};
  EXPECT_EQ(resize(image, 1, 1).pixels, (Pixels{1}));
  const Image other{{2, 2, 1}, {0, 0, 1, 0}};
  EXPECT_EQ(resize(other, 1, 1).pixels, (Pixels{1}));
}

// The cubic of Keys overshoots beside an edge: halfway between pixels it is -1/16, 9/16, 9/16,
// -1/16.
TEST(Image, GrowsByCubics) {
  const Image row{{1, 4, 1}, {0, 0, 160, 160}};
  EXPECT_EQ(resize(row, 1, 4, Resampling::bicubic).pixels, row.pixels);
  const Image edge{{1, 4, 1}, {80, 80, 240, 240}};
  const Pixels grown = resize(edge, 1, 8, Resampling::bicubic).pixels;
  EXPECT_LT(grown[2], 80);
  EXPECT_GT(grown[5], 240);
  EXPECT_EQ(grown[0], 80);
}

TEST(Image, ResizesEachChannelAlone) {
  const Image image{{1, 2, 3}, {0, 10, 200, 100, 10, 0}};
  EXPECT_EQ(resize(image, 1, 4).pixels, (Pixels{0, 10, 200, 25, 10, 150, 75, 10, 50, 100, 10, 0}));
}

TEST(Image, TakesTheShapeOfAModel) {
  const Image image{{2, 4, 3}, Pixels(24, 80)};
  const Image other = with_shape(image, {3, 3, 1});
  EXPECT_EQ(other.shape, (ImageShape{3, 3, 1}));
  EXPECT_EQ(other.pixels, Pixels(9, 80));
}

TEST(Image, MayBeOfOnePixel) {
  const Image image = dark_image(1, 1, 3, "a.png");
  EXPECT_EQ(image.shape, (ImageShape{1, 1, 3}));
  EXPECT_EQ(image.pixels, Pixels(3, 0));
}

TEST(Image, RefusesSizesBeforeItTakesMemory) {
  expect_error(ErrorKind::data,
               "a.png: expected an image of 1 to 67108864 pixels, found 1000000 x 1000000",
               [] { dark_image(1000000, 1000000, 3, "a.png"); });
  expect_error(ErrorKind::data, "a.png: expected an image of 1 to 67108864 pixels, found 0 x 5",
               [] { dark_image(5, 0, 3, "a.png"); });
  expect_error(ErrorKind::data,
               "a.png: expected a size that fits 64 bits, found 9223372036854775808 x 2",
               [] { dark_image(std::uint64_t{1} << 63, 2, 1, "a.png"); });
}

}  // namespace
}  // namespace heed::data
