// Classification of images: a vision Transformer, trained on images with a label.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/data/labelled_images.h"
#include "heed/data/patches.h"
#include "heed/models/image_classifier.h"
#include "heed/models/image_preprocessor.h"
#include "heed/train/classification_task.h"

namespace heed::train {

// How an image is seen in an epoch: a function of the seed, the epoch and the image, the same for
// any batch that the image is in.
data::Augmentation augmentation_of(const TrainingOptions& training, Index epoch, Index image);

class ImageTask : public ClassTask<models::ImageClassifier, models::ImageBatch> {
 public:
  // Reads `images` and `valid_images`.
  ImageTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  // Images of another size are read again.
  void set_recipe(const Recipe& recipe) override;
  // Images have no tokenizer, but those of another family's model may have a preprocessor.
  void prepare(const std::string& folder) override;
  void save_model(const std::string& folder) const override;
  void save_tokenizer(const std::string& folder) const override;
  std::vector<std::string> tokenizer_files() const override;
  DataSummary summary() const override;
  std::string describe_batch(Index epoch, Index number) override;
  Index num_batches(Index) override { return batches(images_).size(); }
  Index num_validation_batches() const override {
    return validation_ ? batches(*validation_).size() : 0;
  }

 protected:
  models::ImageBatch training_batch(Index epoch, Index number) override;
  models::ImageBatch validation_batch(Index number) const override;

 private:
  void read_files();
  data::LabelledImages read_images(const std::string& path, data::ImagePart part,
                                   std::vector<std::string> labels = {}) const;
  data::UniformBatches batches(const data::LabelledImages& images) const;
  std::vector<Index> images_of(Index epoch, Index number) const;  // of a batch
  models::ImageBatch make_batch(const data::LabelledImages& images, std::span<const Index> numbers,
                                std::span<const data::Augmentation> augmentations = {}) const;

  FilePaths files_;
  Recipe recipe_;
  models::ImagePreprocessor preprocessor_;
  data::LabelledImages images_;
  std::optional<data::LabelledImages> validation_;
};

}  // namespace heed::train
