#include "heed/models/image_preprocessor.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/models/transformer_config.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

ImagePreprocessor load(const std::string& json) {
  const TemporaryFolder folder;
  folder.write("preprocessor_config.json", json);
  TransformerConfig config;
  config.image_height = config.image_width = 16;
  config.image_channels = 3;
  return load_image_preprocessor(folder.path(), config);
}

void expect_refused(const std::string& json, const std::string& message) {
  try {
    load(json);
    ADD_FAILURE() << json;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    const std::string what = error.what();
    EXPECT_NE(what.find("/preprocessor_config.json: " + message), std::string::npos) << what;
  }
}

TEST(ImagePreprocessor, IsFromZeroToOneWithoutAFile) {
  const TemporaryFolder folder;
  const ImagePreprocessor none = load_image_preprocessor(folder.path(), {});
  EXPECT_TRUE(none.json.empty());
  EXPECT_EQ(none.value(0, 0), 0);
  EXPECT_EQ(none.value(255, 2), 1);
}

TEST(ImagePreprocessor, RescalesSubtractsTheMeanAndDivides) {
  const auto found = load(
      R"({"size": {"height": 16, "width": 16}, "resample": 2, "rescale_factor": 0.5,
          "image_mean": [1, 2, 3], "image_std": [1, 2, 4]})");
  EXPECT_EQ(found.value(10, 0), 4);
  EXPECT_EQ(found.value(10, 1), 1.5f);
  EXPECT_EQ(found.value(10, 2), 0.5f);
  EXPECT_FALSE(found.is_bicubic);
}

TEST(ImagePreprocessor, HasHalvesWhereTheFileSaysNothing) {
  const auto found = load(R"({"size": 16, "resample": 3})");
  EXPECT_EQ(found.value(0, 1), -1);
  EXPECT_EQ(found.value(255, 1), 1);
  EXPECT_TRUE(found.is_bicubic);
}

TEST(ImagePreprocessor, LeavesOutStepsThatAreSwitchedOff) {
  EXPECT_EQ(load(R"({"do_rescale": false, "do_normalize": false})").value(7, 0), 7);
  EXPECT_EQ(load(R"({"do_normalize": false, "image_mean": [9, 9, 9]})").value(255, 0), 1);
  EXPECT_NO_THROW(load(R"({"do_resize": false, "size": 99})"));
}

TEST(ImagePreprocessor, RefusesWhatItDoesNotDo) {
  expect_refused(R"({"do_center_crop": true})", "do_center_crop: expected false, found true");
  expect_refused(R"({"resample": 1})", "resample: expected 2 (bilinear) or 3 (bicubic), found 1");
  expect_refused(R"({"size": 17})", "size: expected the 16 pixels of config.json, found 17");
  expect_refused(R"({"size": {"height": 16, "width": 8}})",
                 "size.width: expected the 16 pixels of config.json, found 8");
  expect_refused(R"({"size": {"shortest_edge": 16}})", "size.height: ");
  expect_refused(R"({"image_mean": [0.5]})",
                 "image_mean: expected 3 numbers, one for each channel, found 1");
  expect_refused(R"({"image_std": [1, 0, 1]})", "image_std");
}

TEST(ImagePreprocessor, IsWrittenAsItWas) {
  const std::string json = "{\"size\":16,  \"other\": [1]}";
  const TemporaryFolder folder;
  save_image_preprocessor(folder.path(), load(json));
  TransformerConfig config;
  config.image_height = config.image_width = 16;
  config.image_channels = 3;
  EXPECT_EQ(load_image_preprocessor(folder.path(), config).json, json);
}

}  // namespace
}  // namespace heed::models
