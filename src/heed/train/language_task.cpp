#include "heed/train/language_task.h"

#include <algorithm>

#include "heed/infer/text_generator.h"
#include "heed/models/model_folder.h"

namespace heed::train {
namespace {

// Of the text that a validation shows.
constexpr Index sample_tokens = 100;
constexpr double sample_temperature = 0.8;

// Windows that begin at these places, side by side.
models::LanguageBatch make_batch(const data::TextWindows& text, std::span<const Index> places) {
  models::LanguageBatch batch;
  std::vector<std::span<const int>> inputs;
  for (const Index place : places) {
    inputs.push_back(text.input(place));
    const auto next = text.next(place);
    batch.next.insert(batch.next.end(), next.begin(), next.end());
  }
  batch.input = models::pack(inputs);
  return batch;
}

}  // namespace

LanguageTask::LanguageTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                           data::TextWindows text, std::optional<data::TextWindows> validation,
                           models::LanguageModel model)
    : options_(options),
      tokenizer_(std::move(tokenizer)),
      text_(std::move(text)),
      validation_(std::move(validation)),
      model_(std::move(model)) {}

RunStart LanguageTask::run_start(Index, Index update) {
  RunStart start;
  start.num_parameters = models::num_parameters(model_.config());
  start.vocabulary = tokenizer_.size();
  start.examples = "windows of " + std::to_string(text_.length()) + " tokens";
  start.num_examples = text_.size();
  start.num_valid_examples = validation_ ? validation_->size() : 0;
  start.update = update;
  return start;
}

Index LanguageTask::windows_per_batch() const {
  return std::max<Index>(1, options_.batch_tokens / text_.length());
}

Index LanguageTask::num_batches(Index) {
  return (text_.size() + windows_per_batch() - 1) / windows_per_batch();
}

BatchLoss LanguageTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const Index first = number * windows_per_batch();
  const Index last = std::min(first + windows_per_batch(), text_.size());
  std::vector<Index> places;
  for (Index window = first; window < last; ++window) {
    places.push_back(text_.begin_of(window, options_.seed, epoch));
  }
  const models::LanguageBatch batch = make_batch(text_, places);
  models::Loss result = model_.loss(batch, context);
  return {std::move(result.loss), result.negative_log_likelihood,
          static_cast<Index>(batch.next.size()), 0};
}

// Windows one after another from the beginning of the text.
std::optional<double> LanguageTask::validation_loss(const ShouldStop& should_stop) const {
  const NoGrad no_grad;
  double loss = 0;
  Index num_tokens = 0;
  for (Index first = 0; first < validation_->size(); first += windows_per_batch()) {
    if (should_stop()) return std::nullopt;
    const Index last = std::min(first + windows_per_batch(), validation_->size());
    std::vector<Index> places;
    for (Index window = first; window < last; ++window) {
      places.push_back(window * validation_->length());
    }
    const models::LanguageBatch batch = make_batch(*validation_, places);
    auto context = nn::ForwardContext::inference();
    loss += model_.loss(batch, context).negative_log_likelihood;
    num_tokens += static_cast<Index>(batch.next.size());
  }
  return loss / static_cast<double>(num_tokens);
}

bool LanguageTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  const infer::GenerationOptions options{.sampling = {.temperature = sample_temperature},
                                         .seed = options_.seed,
                                         .max_tokens = sample_tokens};
  const std::string nothing;
  const infer::TextGenerator writer(model_, tokenizer_);
  report.samples.push_back({{}, writer.generate(std::span(&nothing, 1), options)[0].text, {}});
  return !should_stop();
}

void LanguageTask::save_model(const std::string& folder) const {
  models::save_model_folder(folder, model_, tokenizer_);
}

void LanguageTask::save_vocabulary(const std::string& folder) const {
  models::save_tokenizer(folder, tokenizer_);
}

}  // namespace heed::train
