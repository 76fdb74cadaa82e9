#include "heed/data/patches.h"

#include <gtest/gtest.h>

#include <numeric>

#include "heed/base/error.h"

namespace heed::data {
namespace {

// Pixels 0, 1, 2 ... cut, in the same numbers.
std::vector<int> cut(const ImageShape& shape, Index side, const Augmentation& augmentation = {}) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.size()));
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  std::vector<float> patches(pixels.size());
  cut_patches(patches, pixels, PatchGrid(shape, side), {}, augmentation);
  std::vector<int> numbers;
  for (const float value : patches) numbers.push_back(static_cast<int>(value * 255 + 0.5f));
  return numbers;
}

TEST(Patches, AreSquaresRowByRow) {
  EXPECT_EQ(cut({2, 4, 1}, 2), (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(cut({4, 2, 1}, 2), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  const PatchGrid grid({28, 28, 1}, 4);
  EXPECT_EQ(grid.num_patches(), 49);
  EXPECT_EQ(grid.patch_dim(), 16);
}

TEST(Patches, KeepTheChannelsOfAPixelTogether) {
  EXPECT_EQ(cut({1, 2, 3}, 1), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(PatchGrid({8, 8, 3}, 4).patch_dim(), 48);
}

TEST(Patches, HoldNumbersFromZeroToOne) {
  const std::vector<std::uint8_t> pixels{0, 51, 255, 102};
  std::vector<float> patches(4);
  cut_patches(patches, pixels, PatchGrid({2, 2, 1}, 2), {});
  EXPECT_EQ(patches, (std::vector<float>{0.0f, 51 / 255.0f, 1.0f, 102 / 255.0f}));
}

TEST(Patches, HoldTheNumbersThatAModelWants) {
  PixelValues values;
  values.of_channel[0][7] = -2;
  values.of_channel[2][7] = 5;
  std::vector<float> patches(3);
  cut_patches(patches, std::vector<std::uint8_t>{7, 255, 7}, PatchGrid({1, 1, 3}, 1), values);
  EXPECT_EQ(patches, (std::vector<float>{-2, 1, 5}));
}

TEST(Patches, OfAShiftedImageRepeatItsBorder) {
  // 0 1 2
  // 3 4 5
  // 6 7 8
  EXPECT_EQ(cut({3, 3, 1}, 3, {.flip = false, .down = 1, .right = 0}),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(cut({3, 3, 1}, 3, {.flip = false, .down = 0, .right = -2}),
            (std::vector<int>{2, 2, 2, 5, 5, 5, 8, 8, 8}));
}

TEST(Patches, OfAFlippedImageAreItsMirrorImage) {
  EXPECT_EQ(cut({2, 3, 1}, 1, {.flip = true, .down = 0, .right = 0}),
            (std::vector<int>{2, 1, 0, 5, 4, 3}));
  // The channels of a pixel keep their order, and the patches theirs.
  EXPECT_EQ(cut({1, 2, 3}, 1, {.flip = true, .down = 0, .right = 0}),
            (std::vector<int>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(cut({2, 4, 1}, 2, {.flip = true, .down = 0, .right = 0}),
            (std::vector<int>{3, 2, 7, 6, 1, 0, 5, 4}));
}

TEST(Patches, OfAFlippedImageAreMovedAfterIt) {
  EXPECT_EQ(cut({1, 3, 1}, 1, {.flip = true, .down = 0, .right = 1}), (std::vector<int>{2, 2, 1}));
}

TEST(Patches, RefuseASideThatDoesNotDivideTheImage) {
  EXPECT_THROW(PatchGrid({28, 28, 1}, 5), Error);
  EXPECT_THROW(PatchGrid({28, 28, 1}, 0), Error);
  std::vector<float> patches(3);
  EXPECT_THROW(cut_patches(patches, std::vector<std::uint8_t>(4), PatchGrid({2, 2, 1}, 1), {}),
               Error);
}

}  // namespace
}  // namespace heed::data
