#include "heed/infer/image_labeller.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/models/image_classifier.h"
#include "heed/models/model_folder.h"
#include "heed/models/presets.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

models::ImageClassifier small_model() {
  models::TransformerConfig config = models::transformer_preset("images");
  config.labels = {"bat", "cave", "racket"};
  config.image_height = config.image_width = 8;
  config.patch_side = 4;
  config.encoder_layers = 1;
  config.model_dim = 16;
  config.feed_forward_dim = 24;
  return {config, 1};
}

data::Image noise(Index height, Index width, Index channels, std::uint64_t key) {
  data::Image image{{height, width, channels}, {}};
  Rng rng(key);
  for (Index i = 0; i < image.shape.size(); ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
  }
  return image;
}

TEST(ImageLabeller, GivesTheMostLikelyClassesFirst) {
  const ImageLabeller labeller(small_model());
  const data::Image image = noise(8, 8, 1, 1);
  const std::vector<Pixels> pixels{image.pixels};
  const auto all = labeller.classify(pixels, 5);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].size(), 3u);
  EXPECT_GE(all[0][0].probability, all[0][1].probability);
  EXPECT_GE(all[0][1].probability, all[0][2].probability);
  EXPECT_NEAR(all[0][0].probability + all[0][1].probability + all[0][2].probability, 1, 1e-5);
  EXPECT_EQ(labeller.classify(pixels)[0].size(), 1u);
}

TEST(ImageLabeller, AnImagesClassesDoNotDependOnTheOthersOrOnThreads) {
  const ImageLabeller labeller(small_model());
  std::vector<data::Image> images;
  for (std::uint64_t i = 0; i < 70; ++i) images.push_back(noise(8, 8, 1, i));
  std::vector<Pixels> pixels;
  for (const data::Image& image : images) pixels.emplace_back(image.pixels);
  const int before = num_threads();
  set_num_threads(2);
  const auto together = labeller.classify(pixels);
  set_num_threads(1);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto alone = labeller.classify(std::span(pixels).subspan(i, 1));
    EXPECT_EQ(alone[0][0].of_class, together[i][0].of_class);
    EXPECT_EQ(alone[0][0].probability, together[i][0].probability);
  }
  set_num_threads(before);
}

TEST(ImageLabeller, ReadsFilesOfAnySizeAndColour) {
  const TemporaryFolder folder;
  models::save_model_folder(folder.file("model"), small_model());
  const ImageLabeller labeller = ImageLabeller::load(folder.file("model"));
  const std::vector<std::string> paths{folder.write("a.png", png_bytes(noise(8, 8, 1, 1))),
                                       folder.write("b.jpg", jpeg_bytes(noise(20, 13, 3, 2)))};
  const auto found = labeller.classify_files(paths);
  ASSERT_EQ(found.size(), 2u);
  const data::Image first = noise(8, 8, 1, 1);
  const std::vector<Pixels> pixels{first.pixels};
  EXPECT_EQ(found[0][0].probability, labeller.classify(pixels)[0][0].probability);
  EXPECT_THROW(labeller.classify_files(std::vector<std::string>{folder.file("absent.png")}), Error);
}

}  // namespace
}  // namespace heed::infer
