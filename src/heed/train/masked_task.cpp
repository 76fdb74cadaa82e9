#include "heed/train/masked_task.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/ops/embedding.h"
#include "heed/text/lines.h"
#include "heed/train/early_stopping.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"

namespace heed::train {
namespace {

// Validation lines are always masked as in this epoch.
constexpr Index validation_epoch = 0;

// Lines that a validation shows.
constexpr Index max_samples = 3;

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "`bpe_dropout`: expected 0 for `masked`, found ", training.bpe_dropout);
  check_early_stopping(training.early_stopping, {}, files.contains("valid-masked"),
                       "`valid_masked`");
}

}  // namespace

MaskedTask::MaskedTask(const FilePaths& files, const Recipe& recipe)
    : recipe_(recipe), plan_(epoch_plan_options(recipe.training)) {
  check_options(files, recipe);
  lines_ = read_lines_of(files, "masked").value();
  validation_lines_ = read_lines_of(files, "valid-masked");
}

std::string MaskedTask::data_hash() const {
  io::Sha256 hash;
  hash_lines(hash, lines_);
  if (validation_lines_) hash_lines(hash, *validation_lines_);
  return hash.hex_digest();
}

std::optional<DataSize> MaskedTask::data_size() const { return DataSize{text_size(lines_), {}}; }

void MaskedTask::set_recipe(const Recipe& recipe) {
  recipe_ = recipe;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

void MaskedTask::prepare(const std::string& tokenizer_folder) {
  const TrainingOptions& training = recipe_.training;
  tokenizer_ =
      tokenizer_folder.empty() ? train_tokenizer() : models::load_tokenizer(tokenizer_folder);
  if (validation_lines_) {
    validation_ = data::LineCorpus::tokenize(*validation_lines_, *tokenizer_,
                                             {.max_length = training.max_length});
    validation_plan_ = data::BatchPlan::in_order(validation_->sizes(), training.batch_tokens);
  }
  corpus_ = data::LineCorpus::tokenize(lines_, *tokenizer_, {.max_length = training.max_length});
  masking_.emplace(data::masking_options(*tokenizer_, training.seed));
  recipe_.model.vocabulary = tokenizer_->size();
  model_ = make_model<models::MaskedModel>(recipe_);
}

text::Tokenizer MaskedTask::train_tokenizer() const {
  text::TokenizerOptions options = recipe_.tokenizer;
  options.with_mask = true;
  return text::Tokenizer::train(lines_, options);
}

DataSummary MaskedTask::summary() const {
  DataSummary summary = line_summary(*tokenizer_, *corpus_, validation_ ? &*validation_ : nullptr);
  for (std::size_t i = 0; i < std::min(lines_.size(), max_summary_samples); ++i) {
    summary.samples.push_back({lines_[i], {}});
  }
  summary.warnings =
      data::check_lines(lines_, validation_lines_ ? std::span<const std::string>(*validation_lines_)
                                                  : std::span<const std::string>());
  return summary;
}

Index MaskedTask::num_batches(Index epoch) {
  return plan_.of_epoch(epoch, corpus_->sizes()).size();
}

std::string MaskedTask::describe_batch(Index epoch, Index number) {
  std::vector<Index> places;
  for (const Index line : plan_.of_epoch(epoch, corpus_->sizes()).batch(number)) {
    places.push_back(corpus_->place(line));
  }
  return list_places("lines", places);
}

models::MaskedBatch MaskedTask::training_batch(Index epoch, Index number) {
  return make_batch(*corpus_, plan_.of_epoch(epoch, corpus_->sizes()).batch(number), epoch);
}

models::MaskedBatch MaskedTask::validation_batch(Index number) const {
  return make_batch(*validation_, validation_plan_.batch(number), validation_epoch);
}

models::MaskedBatch MaskedTask::make_batch(const data::LineCorpus& corpus,
                                           std::span<const Index> lines, Index epoch) const {
  models::MaskedBatch batch;
  std::vector<std::vector<int>> inputs;
  Index begin = 0;
  for (const Index line : lines) {
    data::MaskedLine masked = masking_->apply(corpus.ids(line), epoch, corpus.place(line));
    for (const Index place : masked.places) batch.places.push_back(begin + place);
    batch.hidden.insert(batch.hidden.end(), masked.hidden.begin(), masked.hidden.end());
    begin += std::ssize(masked.ids);
    inputs.push_back(std::move(masked.ids));
  }
  batch.input = models::pack(inputs);
  return batch;
}

bool MaskedTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  for (Index line = 0; line < std::min(max_samples, validation_->size()); ++line) {
    if (should_stop()) return false;
    report.samples.push_back(sample(line));
  }
  return true;
}

// A validation line with masked tokens, with the most likely tokens in their place, and as it was.
Sample MaskedTask::sample(Index line) const {
  const NoGrad no_grad;
  const models::MaskedBatch batch = make_batch(*validation_, {&line, 1}, validation_epoch);
  auto context = nn::ForwardContext::inference();
  const Tensor rows = ops::gather_rows(model_->encode(batch.input, context).values, batch.places);
  const Tensor logits = model_->logits(rows);
  std::vector<int> filled = batch.input.ids;
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    const float* row = logits.data() + static_cast<Index>(i) * logits.dim(1);
    filled[static_cast<std::size_t>(batch.places[i])] =
        static_cast<int>(std::max_element(row, row + logits.dim(1)) - row);
  }
  return {tokenizer_->decode(batch.input.ids), tokenizer_->decode(filled),
          tokenizer_->decode(validation_->ids(line))};
}

}  // namespace heed::train
