// Image classification: images in, classes out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/class_probabilities.h"

namespace heed::models {
class ImageClassifier;
struct ImagePreprocessor;
struct TransformerConfig;
}  // namespace heed::models

namespace heed::infer {

// The bytes of one image, [height, width, channels]: 0 is dark.
using Pixels = std::span<const std::uint8_t>;

// Copies share the model.
class ImageLabeller {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static ImageLabeller load(const std::string& folder,
                            std::optional<WeightFormat> weights = std::nullopt);
  explicit ImageLabeller(models::ImageClassifier model);
  ImageLabeller(models::ImageClassifier model, models::ImagePreprocessor preprocessor);

  const std::vector<std::string>& labels() const;
  // Its image_height, image_width and image_channels are those of the images that `classify` takes.
  const models::TransformerConfig& config() const;
  const models::ImagePreprocessor& preprocessor() const { return *preprocessor_; }

  // The most likely class of one image file: its label and probability.
  ClassProbability classify_file(const std::string& path) const;

  // For each image the `count` most likely classes, the most likely first. The result for one image
  // does not depend on the others.
  std::vector<std::vector<ClassProbability>> classify(std::span<const Pixels> images,
                                                      Index count = 1) const;
  // The same for image files of any size, PNG or JPEG. Refuses (ErrorKind::data) other files.
  std::vector<std::vector<ClassProbability>> classify_files(std::span<const std::string> paths,
                                                            Index count = 1) const;

 private:
  std::shared_ptr<const models::ImageClassifier> model_;
  std::shared_ptr<const models::ImagePreprocessor> preprocessor_;
};

}  // namespace heed::infer
