#include "heed/infer/patch_grid.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/data/image.h"
#include "heed/models/model_folder.h"
#include "support/npy.h"

namespace heed::infer {
namespace {

data::Image image_of(const NpyArray& array) {
  data::Image image{{array.shape[0], array.shape[1], array.shape[2]}, {}};
  for (const double value : array.values) {
    image.pixels.push_back(static_cast<std::uint8_t>(value));
  }
  return image;
}

TEST(PixelValues, AreThoseOfTheReference) {
  const char* data = std::getenv("HEED_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/hf/models/vit_a";
  if (!std::filesystem::exists(folder + "/expected.json")) {
    GTEST_SKIP() << "HEED_DATA names no folder with hf/models";
  }
  const auto config = models::load_config(folder);
  const auto preprocessor = models::load_image_preprocessor(folder, config);
  const data::PixelValues values = pixel_values(preprocessor);
  const data::ImageShape shape = patch_grid(config).image;
  std::ifstream file(folder + "/expected.json");
  const auto results = nlohmann::json::parse(file);
  for (const auto& picture : results.at("image_processor").at("pictures")) {
    const data::Image image =
        data::with_shape(image_of(read_npy(folder + '/' + picture["image"].get<std::string>())),
                         shape, resampling(preprocessor));
    const NpyArray expected = read_npy(folder + '/' + picture["pixel_values"].get<std::string>());
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      const std::size_t channel = i % 3, place = i / 3;
      EXPECT_EQ(values.of_channel[channel][image.pixels[i]],
                static_cast<float>(expected.values[channel * image.pixels.size() / 3 + place]));
    }
  }
}

}  // namespace
}  // namespace heed::infer
