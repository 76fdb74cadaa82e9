// Training a model on batches in memory:
//
//   models::Classifier model(config, seed);
//   train::BatchTask task(model, batches, {.validation = held_out, .tokenizer = tokenizer});
//   train::train(task, "my-model", options);
//
// The task shares its parameters with `model`. In the end these are the latest ones; the model
// folder has those that the options ask for: averaged, or the best on the validation batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
<<<<<<< HEAD
#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/train/batch_hash.h"
=======
>>>>>>> ef067f4cf27a60fde0d7714dc1a5752056e7ae97
#include "heed/train/model_task.h"

namespace heed::train {

template <typename Batch>
struct BatchTaskOptions {
  std::vector<Batch> validation = {};
  std::optional<text::Tokenizer> tokenizer = {};  // saved with the model
  // Whether every epoch takes the batches in a random order of its own; otherwise as they stand.
  bool shuffle = false;
  std::uint64_t shuffle_seed = 1;
};

<<<<<<< HEAD
// See ModelTask for what a model and a batch must offer. A resumed run is refused if its batches,
// their order or their contents differ. The contents of batches of other types than Heed's are
// compared if their namespace has a function hash_batch(io::Sha256&, const Batch&), as in
// batch_hash.h; otherwise their sizes stand for them.
=======
namespace detail {
std::string hash_of_sizes(std::span<const BatchSize> training,
                          std::span<const BatchSize> validation);
// Where the batch of this number is in the random order of an epoch.
std::size_t shuffled_place(Index number, std::size_t num_batches, Index epoch, std::uint64_t seed);
}  // namespace detail

// See ModelTask for what a model and a batch must offer.
>>>>>>> ef067f4cf27a60fde0d7714dc1a5752056e7ae97
template <typename Model, typename Batch>
class BatchTask : public ModelTask<Model, Batch> {
 public:
  BatchTask(Model model, std::vector<Batch> batches, BatchTaskOptions<Batch> options = {})
      : batches_(std::move(batches)), options_(std::move(options)) {
    check_as(ErrorKind::data, !batches_.empty(), "training: expected batches, found none");
    this->model_.emplace(std::move(model));
    this->tokenizer_ = std::move(options_.tokenizer);
  }

  std::string data_hash() const override {
<<<<<<< HEAD
    io::Sha256 hash;
    for (const auto* batches : {&batches_, &options_.validation}) {
      hash.update(std::to_string(batches->size()) + '\n');
      for (const Batch& batch : *batches) add_to(hash, batch);
    }
    if (options_.shuffle) hash.update(std::to_string(options_.shuffle_seed) + '\n');
    return hash.hex_digest();
=======
    return detail::hash_of_sizes(sizes_of(batches_), sizes_of(options_.validation));
>>>>>>> ef067f4cf27a60fde0d7714dc1a5752056e7ae97
  }
  DataSummary summary() const override {
    DataSummary summary;
    if constexpr (ModelTask<Model, Batch>::has_config) {
      summary.vocabulary = this->model_->config().vocabulary;
    }
    summary.examples = "batches";
    summary.num_examples = std::ssize(batches_);
    summary.num_valid_examples = std::ssize(options_.validation);
    return summary;
  }
  Index num_batches(Index) override { return std::ssize(batches_); }
  Index num_validation_batches() const override { return std::ssize(options_.validation); }

 protected:
  Batch training_batch(Index epoch, Index number) override {
    if (!options_.shuffle) return batches_[static_cast<std::size_t>(number)];
    return batches_[detail::shuffled_place(number, batches_.size(), epoch, options_.shuffle_seed)];
  }
  Batch validation_batch(Index number) const override {
    return options_.validation[static_cast<std::size_t>(number)];
  }

 private:
<<<<<<< HEAD
  static void add_to(io::Sha256& hash, const Batch& batch) {
    const BatchSize size = batch_size(batch);
    hash.update(std::to_string(size.num_targets) + ' ' + std::to_string(size.num_source_tokens) +
                '\n');
    if constexpr (requires { hash_batch(hash, batch); }) hash_batch(hash, batch);
=======
  static std::vector<BatchSize> sizes_of(const std::vector<Batch>& batches) {
    std::vector<BatchSize> sizes;
    for (const Batch& batch : batches) sizes.push_back(batch_size(batch));
    return sizes;
>>>>>>> ef067f4cf27a60fde0d7714dc1a5752056e7ae97
  }

  std::vector<Batch> batches_;
  BatchTaskOptions<Batch> options_;
};

}  // namespace heed::train
