#include "heed/train/image_task.h"

#include <algorithm>

#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/infer/image_batches.h"
#include "heed/metrics/classification.h"
#include "heed/models/model_folder.h"
#include "heed/train/class_weights.h"

namespace heed::train {
namespace {

// Keep these random numbers apart from those of initial weights and dropout.
constexpr std::uint64_t order_place = 0x6f726465;
constexpr std::uint64_t shift_place = 0x73686966;

std::vector<int> all_classes(const data::LabelledImages& images) {
  std::vector<int> classes;
  for (Index i = 0; i < images.size(); ++i) classes.push_back(images.class_of(i));
  return classes;
}

models::ImageBatch make_batch(const data::LabelledImages& images, std::span<const Index> places,
                              const models::TransformerConfig& config,
                              std::span<const data::Shift> shifts = {}) {
  models::ImageBatch batch;
  std::vector<infer::Pixels> pixels;
  for (const Index place : places) {
    pixels.push_back(images.pixels(place));
    batch.classes.push_back(images.class_of(place));
  }
  batch.patches = infer::image_patches(pixels, infer::patch_grid(config), shifts);
  return batch;
}

}  // namespace

ImageTask::ImageTask(const TrainingOptions& options, const data::LabelledImages& images,
                     const data::LabelledImages* validation, models::ImageClassifier model)
    : options_(options), images_(images), validation_(validation), model_(std::move(model)) {
  if (options.class_weights == ClassWeights::balanced) {
    class_weights_ = balanced_weights(all_classes(images_), model_.config().labels.size());
  }
}

RunStart ImageTask::run_start(Index, Index update) {
  RunStart start;
  start.num_parameters = models::num_parameters(model_.config());
  start.examples = "images";
  start.num_examples = images_.size();
  start.num_valid_examples = validation_ ? validation_->size() : 0;
  start.update = update;
  return start;
}

Index ImageTask::images_per_batch() const {
  return std::max<Index>(1, options_.batch_tokens / models::num_patches(model_.config()));
}

Index ImageTask::num_batches(Index) {
  return (images_.size() + images_per_batch() - 1) / images_per_batch();
}

// A function of the seed, the epoch and the image: the same for any batch that the image is in.
data::Shift ImageTask::shift_of(Index image, Index epoch) const {
  const auto step = static_cast<std::uint64_t>(epoch);
  Rng rng(
      random_bits(random_key(options_.seed, step, shift_place), static_cast<std::uint64_t>(image)));
  const auto count = static_cast<std::uint64_t>(2 * options_.shift + 1);
  const auto draw = [&] { return static_cast<Index>(rng.below(count)) - options_.shift; };
  const Index down = draw();
  return {.down = down, .right = draw()};
}

BatchLoss ImageTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const data::ShuffledRange order(
      static_cast<std::uint64_t>(images_.size()),
      random_key(options_.seed, static_cast<std::uint64_t>(epoch), order_place));
  std::vector<Index> places;
  std::vector<data::Shift> shifts;
  const Index first = number * images_per_batch();
  const Index last = std::min(first + images_per_batch(), images_.size());
  for (Index i = first; i < last; ++i) {
    places.push_back(static_cast<Index>(order[static_cast<std::uint64_t>(i)]));
    shifts.push_back(shift_of(places.back(), epoch));
  }
  const models::ImageBatch batch = make_batch(images_, places, model_.config(), shifts);
  models::Loss result = model_.loss(batch, context, class_weights_);
  return {std::move(result.loss), result.negative_log_likelihood, batch.num_images(),
          batch.patches.dim(0)};
}

namespace {

// Calls work(batch, context) for all images in their order, as long as nobody says stop.
template <typename Work>
bool over_batches(const data::LabelledImages& images, Index images_per_batch,
                  const models::TransformerConfig& config, const ShouldStop& should_stop,
                  Work&& work) {
  const NoGrad no_grad;
  for (Index first = 0; first < images.size(); first += images_per_batch) {
    if (should_stop()) return false;
    std::vector<Index> places;
    for (Index i = first; i < std::min(first + images_per_batch, images.size()); ++i) {
      places.push_back(i);
    }
    auto context = nn::ForwardContext::inference();
    work(make_batch(images, places, config), context);
  }
  return true;
}

}  // namespace

std::optional<double> ImageTask::validation_loss(const ShouldStop& should_stop) const {
  double loss = 0;
  const bool is_whole =
      over_batches(*validation_, images_per_batch(), model_.config(), should_stop,
                   [&](const models::ImageBatch& batch, nn::ForwardContext& context) {
                     loss += model_.loss(batch, context).negative_log_likelihood;
                   });
  if (!is_whole) return std::nullopt;
  return loss / static_cast<double>(validation_->size());
}

bool ImageTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  std::vector<int> given;
  const auto num_classes = static_cast<int>(model_.config().labels.size());
  const bool is_whole = over_batches(
      *validation_, images_per_batch(), model_.config(), should_stop,
      [&](const models::ImageBatch& batch, nn::ForwardContext& context) {
        const Tensor logits = model_.logits(batch.patches, context);
        for (Index i = 0; i < batch.num_images(); ++i) {
          const float* row = logits.data() + i * num_classes;
          given.push_back(static_cast<int>(std::max_element(row, row + num_classes) - row));
        }
      });
  if (!is_whole) return false;
  const metrics::ConfusionTable table(all_classes(*validation_), given, num_classes);
  report.accuracy = metrics::accuracy(table);
  report.macro_f1 = metrics::macro_f1(table);
  return true;
}

void ImageTask::save_model(const std::string& folder) const {
  models::save_model_folder(folder, model_);
}

}  // namespace heed::train
