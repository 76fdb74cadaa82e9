#include "heed/infer/image_labeller.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/data/image_file.h"
#include "heed/infer/patch_grid.h"
#include "heed/models/image_classifier.h"
#include "heed/models/model_folder.h"

namespace heed::infer {
namespace {

constexpr Index images_per_batch = 32;  // whole batches run in parallel

}  // namespace

ImageLabeller ImageLabeller::load(const std::string& folder, std::optional<WeightFormat> weights) {
  auto model = models::load_model<models::ImageClassifier>(
      folder, {.for_inference = true, .weights = weights});
  auto preprocessor = models::load_image_preprocessor(folder, model.config());
  return {std::move(model), std::move(preprocessor)};
}

ImageLabeller::ImageLabeller(models::ImageClassifier model)
    : ImageLabeller(std::move(model), models::ImagePreprocessor()) {}

ImageLabeller::ImageLabeller(models::ImageClassifier model, models::ImagePreprocessor preprocessor)
    : model_(std::make_shared<const models::ImageClassifier>(std::move(model))),
      preprocessor_(std::make_shared<const models::ImagePreprocessor>(std::move(preprocessor))) {}

const std::vector<std::string>& ImageLabeller::labels() const { return config().labels; }

const models::TransformerConfig& ImageLabeller::config() const { return model_->config(); }

std::vector<std::vector<ClassProbability>> ImageLabeller::classify(std::span<const Pixels> images,
                                                                   Index count) const {
  const data::PatchGrid grid = patch_grid(config());
  const data::PixelValues values = pixel_values(*preprocessor_);
  const std::size_t num_classes = labels().size();
  std::vector<std::vector<ClassProbability>> results(images.size());
  const auto total = std::ssize(images);
  parallel_ranges(total, images_per_batch, [&](Index begin, Index end) {
    const NoGrad no_grad;
    auto context = nn::ForwardContext::inference();
    const auto batch =
        images.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    const Tensor logits = model_->logits(data::image_patches(batch, grid, values), context);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = logits.values().subspan(i * num_classes, num_classes);
      results[static_cast<std::size_t>(begin) + i] = most_likely_classes(row, labels(), count);
    }
  });
  return results;
}

ClassProbability ImageLabeller::classify_file(const std::string& path) const {
  return classify_files(std::span(&path, 1)).front().front();
}

std::vector<std::vector<ClassProbability>> ImageLabeller::classify_files(
    std::span<const std::string> paths, Index count) const {
  std::vector<data::Image> images(paths.size());
  const data::ImageShape shape = patch_grid(config()).image;
  const data::Resampling how = resampling(*preprocessor_);
  parallel_for(std::ssize(paths), [&](Index i) {
    images[i] = data::with_shape(data::read_image(paths[i]), shape, how);
  });
  std::vector<Pixels> pixels(images.size());
  std::ranges::transform(images, pixels.begin(), &data::Image::pixels);
  return classify(pixels, count);
}

}  // namespace heed::infer
