#include "heed/train/image_training.h"

#include "heed/base/error.h"
#include "heed/infer/image_labeller.h"
#include "heed/io/sha256.h"
#include "heed/train/image_task.h"

namespace heed::train {
namespace {

struct Data {
  data::LabelledImages training;
  std::optional<data::LabelledImages> validation;
};

Data read_data(const FilePaths& files, const Recipe& recipe) {
  using data::LabelledImages, data::ImagePart;
  const data::ImageShape shape = infer::patch_grid(recipe.model).image;
  Data data{LabelledImages::read(files.at("images"), ImagePart::train, shape), {}};
  if (const std::string valid = path_of(files, "valid-images"); !valid.empty()) {
    data.validation = LabelledImages::read(valid, ImagePart::test, shape, data.training.labels());
  }
  return data;
}

void hash_images(io::Sha256& hash, const data::LabelledImages& images) {
  hash.update(std::to_string(images.size()) + '\n');
  for (const std::string& label : images.labels()) hash.update(label + '\n');
  for (Index i = 0; i < images.size(); ++i) {
    hash.update(std::to_string(images.class_of(i)) + '\n');
    hash.update(std::as_bytes(images.pixels(i)));
  }
}

class ImageMaker : public TaskMaker {
 public:
  ImageMaker(Data data, const Recipe& recipe) : data_(std::move(data)), recipe_(recipe) {}

  std::unique_ptr<TrainingTask> begin() const override {
    models::TransformerConfig config = recipe_.model;
    config.labels = data_.training.labels();
    return std::make_unique<ImageTask>(recipe_.training, data_.training,
                                       data_.validation ? &*data_.validation : nullptr,
                                       models::ImageClassifier(config, recipe_.training.seed));
  }
  std::unique_ptr<TrainingTask> go_on(const TrainingFolder&) const override { return begin(); }
  std::string data_hash() const override {
    io::Sha256 hash;
    hash_images(hash, data_.training);
    if (data_.validation) hash_images(hash, *data_.validation);
    return hash.hex_digest();
  }

 private:
  Data data_;
  Recipe recipe_;
};

std::unique_ptr<TaskMaker> make(const FilePaths& files, const Recipe& recipe) {
  check_early_stopping(recipe.training.early_stopping, StoppingMetric::accuracy,
                       files.contains("valid-images"), "--valid-images");
  return std::make_unique<ImageMaker>(read_data(files, recipe), recipe);
}

}  // namespace

TrainingKind image_training() {
  return {
      "images",
      models::ModelKind::image_classifier,
      {{"images", "folder with a folder of PNG or JPEG images for each class, or MNIST's files"},
       {"valid-images", "the same, to watch the progress; of MNIST's files those to test", false},
       from_role},
      "images",
      make};
}

}  // namespace heed::train
