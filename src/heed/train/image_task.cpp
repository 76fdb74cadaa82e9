#include "heed/train/image_task.h"

#include <algorithm>
#include <numeric>

#include "heed/base/cancellation.h"
#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/infer/patch_grid.h"
#include "heed/train/early_stopping.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"

namespace heed::train {
namespace {

// Keep these random numbers apart from those of initial weights and dropout.
constexpr std::uint64_t order_place = 0x6f726465;
constexpr std::uint64_t shift_place = 0x73686966;
constexpr std::uint64_t flip_place = 0x666c6970;

void hash_images(io::Sha256& hash, const data::LabelledImages& images) {
  hash.update(std::to_string(images.size()) + '\n');
  for (const std::string& label : images.labels()) hash.update(label + '\n');
  for (Index i = 0; i < images.size(); ++i) {
    check_cancelled(static_cast<std::size_t>(i));
    hash.update(std::to_string(images.class_of(i)) + '\n');
    hash.update(std::as_bytes(images.pixels(i)));
  }
}

// A random number for one use, of an image in an epoch.
std::uint64_t image_bits(const TrainingOptions& training, Index epoch, Index image,
                         std::uint64_t place) {
  return random_bits(random_key(training.seed, static_cast<std::uint64_t>(epoch), place),
                     static_cast<std::uint64_t>(image));
}

}  // namespace

data::Augmentation augmentation_of(const TrainingOptions& training, Index epoch, Index image) {
  Rng rng(image_bits(training, epoch, image, shift_place));
  const auto count = static_cast<std::uint64_t>(2 * training.shift + 1);
  const auto draw = [&] { return static_cast<Index>(rng.below(count)) - training.shift; };
  data::Augmentation augmentation;
  augmentation.flip =
      training.flip && Rng(image_bits(training, epoch, image, flip_place)).below(2) == 1;
  augmentation.down = draw();
  augmentation.right = draw();
  return augmentation;
}

ImageTask::ImageTask(const FilePaths& files, const Recipe& recipe)
    : files_(files), recipe_(recipe) {
  check_early_stopping(recipe.training.early_stopping, class_score_names(),
                       !path_of(files, "valid-images").empty(), "`valid_images`");
  read_files();
}

data::LabelledImages ImageTask::read_images(const std::string& path, data::ImagePart part,
                                            std::vector<std::string> labels) const {
  return data::LabelledImages::read(path, part, infer::patch_grid(recipe_.model).image,
                                    std::move(labels), infer::resampling(preprocessor_));
}

void ImageTask::read_files() {
  const std::string valid = path_of(files_, "valid-images");
  images_ = read_images(path_of(files_, "images"), data::ImagePart::train);
  recipe_.model.labels = images_.labels();
  if (!valid.empty()) {
    validation_ = read_images(valid, data::ImagePart::test, images_.labels());
  }
}

std::optional<DataSize> ImageTask::data_size() const {
  const data::ImageShape& shape = images_.original_shape();
  DataSize size;
  size.images = {images_.size(), shape.height, shape.width, shape.channels};
  return size;
}

void ImageTask::set_recipe(const Recipe& recipe) {
  recipe_ = recipe;
  recipe_.model.labels = images_.labels();
  if (infer::patch_grid(recipe.model).image != images_.shape()) read_files();
}

std::string ImageTask::data_hash() const {
  io::Sha256 hash;
  hash_images(hash, images_);
  if (validation_) hash_images(hash, *validation_);
  return hash.hex_digest();
}

void ImageTask::prepare(const std::string& folder) {
  if (!folder.empty()) {
    preprocessor_ = models::load_image_preprocessor(folder, recipe_.model);
    if (preprocessor_.is_bicubic) read_files();  // they were resized in another way
  }
  if (recipe_.training.class_weights == ClassWeights::balanced) {
    std::vector<int> classes;
    for (Index i = 0; i < images_.size(); ++i) classes.push_back(images_.class_of(i));
    class_weights_ = balanced_weights(classes, recipe_.model.labels.size());
  }
  model_ = make_model<models::ImageClassifier>(recipe_);
}

void ImageTask::save_model(const std::string& folder) const {
  models::save_image_preprocessor(folder, preprocessor_);
  ClassTask::save_model(folder);
}

void ImageTask::save_tokenizer(const std::string& folder) const {
  ClassTask::save_tokenizer(folder);
  models::save_image_preprocessor(folder, preprocessor_);
}

std::vector<std::string> ImageTask::tokenizer_files() const {
  std::vector<std::string> names = ClassTask::tokenizer_files();
  if (!preprocessor_.json.empty()) names.emplace_back(models::ImagePreprocessor::file_name);
  return names;
}

DataSummary ImageTask::summary() const {
  DataSummary summary;
  summary.examples = "images";
  summary.num_examples = images_.size();
  std::vector<int> classes;
  for (Index i = 0; i < images_.size(); ++i) classes.push_back(images_.class_of(i));
  summary.classes = count_classes(classes, images_.labels());
  summary.num_valid_examples = validation_ ? validation_->size() : 0;
  return summary;
}

data::UniformBatches ImageTask::batches(const data::LabelledImages& images) const {
  const Index tokens = models::num_patches(recipe_.model);
  return {images.size(), std::max<Index>(1, recipe_.training.batch_tokens / tokens)};
}

std::vector<Index> ImageTask::images_of(Index epoch, Index number) const {
  const data::ShuffledRange order(
      static_cast<std::uint64_t>(images_.size()),
      random_key(recipe_.training.seed, static_cast<std::uint64_t>(epoch), order_place));
  const data::UniformBatches all = batches(images_);
  std::vector<Index> images;
  for (Index i = all.begin(number); i < all.end(number); ++i) {
    images.push_back(static_cast<Index>(order[static_cast<std::uint64_t>(i)]));
  }
  return images;
}

std::string ImageTask::describe_batch(Index epoch, Index number) {
  return list_places("images", images_of(epoch, number));
}

models::ImageBatch ImageTask::training_batch(Index epoch, Index number) {
  const std::vector<Index> images = images_of(epoch, number);
  std::vector<data::Augmentation> augmentations;
  for (const Index image : images) {
    augmentations.push_back(augmentation_of(recipe_.training, epoch, image));
  }
  return make_batch(images_, images, augmentations);
}

models::ImageBatch ImageTask::validation_batch(Index number) const {
  const data::UniformBatches all = batches(*validation_);
  std::vector<Index> numbers(static_cast<std::size_t>(all.end(number) - all.begin(number)));
  std::iota(numbers.begin(), numbers.end(), all.begin(number));
  return make_batch(*validation_, numbers);
}

models::ImageBatch ImageTask::make_batch(const data::LabelledImages& images,
                                         std::span<const Index> numbers,
                                         std::span<const data::Augmentation> augmentations) const {
  models::ImageBatch batch;
  std::vector<data::Pixels> pixels;
  for (const Index number : numbers) {
    pixels.push_back(images.pixels(number));
    batch.classes.push_back(images.class_of(number));
  }
  batch.patches = data::image_patches(pixels, infer::patch_grid(recipe_.model),
                                      infer::pixel_values(preprocessor_), augmentations);
  return batch;
}

}  // namespace heed::train
