// Image classification: images in, classes out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/patches.h"
#include "heed/infer/class_probabilities.h"
#include "heed/models/image_classifier.h"

namespace heed::infer {

using data::Pixels;

// The images that a classifier reads, and the patches that it cuts them into.
data::PatchGrid patch_grid(const models::TransformerConfig& config);

class ImageLabeller {
 public:
  static ImageLabeller load(const std::string& folder);
  explicit ImageLabeller(models::ImageClassifier model);

  const std::vector<std::string>& labels() const { return model_.config().labels; }
  // Images of this shape are what classify takes.
  data::ImageShape shape() const { return patch_grid(model_.config()).image; }

  // For each image the `count` most likely classes, the most likely first. What an image gets does
  // not depend on the others.
  std::vector<std::vector<ClassProbability>> classify(std::span<const Pixels> images,
                                                      Index count = 1) const;
  // The same for image files of any size. Refuses what data::read_image refuses.
  std::vector<std::vector<ClassProbability>> classify_files(std::span<const std::string> paths,
                                                            Index count = 1) const;

 private:
  models::ImageClassifier model_;
};

}  // namespace heed::infer
