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
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/train/batch_hash.h"
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

namespace detail {
// Where the batch of this number is in the random order of an epoch.
std::size_t shuffled_place(Index number, std::size_t num_batches, Index epoch, std::uint64_t seed);
}  // namespace detail

// See ModelTask for what a model and a batch must offer. A resumed run is refused if its batches,
// their order or their contents differ. The contents of batches of other types than Heed's are
// compared if their namespace has a function hash_batch(train::BatchHash&, const Batch&), as in
// batch_hash.h; otherwise their sizes stand for them.
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
    BatchHash hash;
    for (const auto* batches : {&batches_, &options_.validation}) {
      hash.add(std::ssize(*batches));
      for (const Batch& batch : *batches) add_to(hash, batch);
    }
    if (options_.shuffle) hash.add(static_cast<Index>(options_.shuffle_seed));
    return hash.hex_digest();
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
  static void add_to(BatchHash& hash, const Batch& batch) {
    const BatchSize size = batch_size(batch);
    hash.add(size.num_targets);
    hash.add(size.num_source_tokens);
    if constexpr (requires { hash_batch(hash, batch); }) hash_batch(hash, batch);
  }

  std::vector<Batch> batches_;
  BatchTaskOptions<Batch> options_;
};

}  // namespace heed::train
