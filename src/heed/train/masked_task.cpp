#include "heed/train/masked_task.h"

#include <algorithm>

#include "heed/models/model_folder.h"
#include "heed/ops/embedding.h"

namespace heed::train {
namespace {

// Held-out lines are always masked as in this epoch.
constexpr Index validation_epoch = 0;

// Lines that a validation shows.
constexpr Index max_samples = 3;

}  // namespace

MaskedTask::MaskedTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                       data::LineCorpus corpus, std::optional<data::LineCorpus> validation,
                       models::MaskedModel model)
    : options_(options),
      tokenizer_(std::move(tokenizer)),
      corpus_(std::move(corpus)),
      validation_(std::move(validation)),
      model_(std::move(model)),
      masking_({.mask = tokenizer_.mask().value(),
                .vocabulary = tokenizer_.size(),
                .seed = options.seed}),
      plan_(options.batch_tokens, options.seed) {}

RunStart MaskedTask::run_start(Index, Index update) {
  RunStart start;
  start.num_parameters = models::num_parameters(model_.config());
  start.vocabulary = tokenizer_.size();
  start.examples = "lines";
  start.num_examples = corpus_.size();
  start.num_blank = corpus_.num_blank();
  start.num_too_long = corpus_.num_too_long();
  if (validation_) {
    start.num_valid_examples = validation_->size();
    start.num_valid_left_out = validation_->num_blank() + validation_->num_too_long();
  }
  start.update = update;
  return start;
}

models::MaskedBatch MaskedTask::make_batch(const data::LineCorpus& corpus,
                                           std::span<const Index> lines, Index epoch) const {
  models::MaskedBatch batch;
  std::vector<std::vector<int>> inputs;
  Index begin = 0;
  for (const Index line : lines) {
    data::MaskedLine masked = masking_.apply(corpus.ids(line), epoch, corpus.place(line));
    for (const Index place : masked.places) batch.places.push_back(begin + place);
    batch.hidden.insert(batch.hidden.end(), masked.hidden.begin(), masked.hidden.end());
    begin += std::ssize(masked.ids);
    inputs.push_back(std::move(masked.ids));
  }
  batch.input = models::pack(inputs);
  return batch;
}

Index MaskedTask::num_batches(Index epoch) { return plan_.of_epoch(epoch, corpus_.sizes()).size(); }

BatchLoss MaskedTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const data::BatchPlan& plan = plan_.of_epoch(epoch, corpus_.sizes());
  const models::MaskedBatch batch = make_batch(corpus_, plan.batch(number), epoch);
  models::Loss result = model_.loss(batch, context);
  return {std::move(result.loss), result.negative_log_likelihood, batch.num_hidden(),
          std::ssize(batch.input.ids)};
}

std::optional<double> MaskedTask::validation_loss(const ShouldStop& should_stop) const {
  const NoGrad no_grad;
  const auto plan = data::BatchPlan::in_order(validation_->sizes(), options_.batch_tokens);
  double loss = 0;
  Index num_hidden = 0;
  for (Index i = 0; i < plan.size(); ++i) {
    if (should_stop()) return std::nullopt;
    const models::MaskedBatch batch = make_batch(*validation_, plan.batch(i), validation_epoch);
    auto context = nn::ForwardContext::inference();
    loss += model_.loss(batch, context).negative_log_likelihood;
    num_hidden += batch.num_hidden();
  }
  return loss / static_cast<double>(num_hidden);
}

bool MaskedTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  for (Index line = 0; line < std::min(max_samples, validation_->size()); ++line) {
    if (should_stop()) return false;
    report.samples.push_back(sample(line));
  }
  return true;
}

// A held-out line as the model sees it, with its most likely tokens, and as it was.
Sample MaskedTask::sample(Index line) const {
  const NoGrad no_grad;
  const models::MaskedBatch batch = make_batch(*validation_, {&line, 1}, validation_epoch);
  auto context = nn::ForwardContext::inference();
  const Tensor rows = ops::gather_rows(model_.encode(batch.input, context).values, batch.places);
  const Tensor logits = model_.logits(rows);
  std::vector<int> filled = batch.input.ids;
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    const float* row = logits.data() + static_cast<Index>(i) * logits.dim(1);
    filled[static_cast<std::size_t>(batch.places[i])] =
        static_cast<int>(std::max_element(row, row + logits.dim(1)) - row);
  }
  return {tokenizer_.decode(batch.input.ids), tokenizer_.decode(filled),
          tokenizer_.decode(validation_->ids(line))};
}

void MaskedTask::save_model(const std::string& folder) const {
  models::save_model_folder(folder, model_, tokenizer_);
}

void MaskedTask::save_vocabulary(const std::string& folder) const {
  models::save_tokenizer(folder, tokenizer_);
}

}  // namespace heed::train
