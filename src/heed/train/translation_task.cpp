#include "heed/train/translation_task.h"

#include <algorithm>

#include "heed/metrics/bleu.h"
#include "heed/models/model_folder.h"
#include "heed/train/translation_batches.h"

namespace heed::train {
namespace {

// Translations that a validation shows.
constexpr std::size_t max_samples = 3;

}  // namespace

TranslationTask::TranslationTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                                 data::EpochCorpus corpus, std::optional<WordLinks> links,
                                 std::optional<ValidationData> validation,
                                 models::TranslationModel model)
    : options_(options),
      tokenizer_(std::move(tokenizer)),
      corpus_(std::move(corpus)),
      links_(std::move(links)),
      validation_(std::move(validation)),
      model_(std::move(model)),
      plan_(options.batch_tokens, options.seed) {}

RunStart TranslationTask::run_start(Index epoch, Index update) {
  RunStart start;
  start.num_parameters = models::num_parameters(model_.config());
  start.vocabulary = tokenizer_.size();
  const data::TranslationCorpus& corpus = corpus_.of_epoch(epoch);
  start.num_examples = corpus.size();
  start.num_blank = corpus.num_blank();
  start.num_too_long = corpus.num_too_long();
  if (validation_) {
    start.num_valid_examples = validation_->corpus.size();
    start.num_valid_left_out = validation_->corpus.num_blank() + validation_->corpus.num_too_long();
  }
  start.update = update;
  return start;
}

const data::BatchPlan& TranslationTask::plan(Index epoch) {
  return plan_.of_epoch(epoch, corpus_.of_epoch(epoch).sizes());
}

Index TranslationTask::num_batches(Index epoch) { return plan(epoch).size(); }

BatchLoss TranslationTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const data::TranslationCorpus& corpus = corpus_.of_epoch(epoch);
  const auto pairs = plan(epoch).batch(number);
  models::TranslationBatch batch = make_batch(corpus, pairs);
  if (links_) {
    std::vector<Index> lines;
    for (const Index pair : pairs) lines.push_back(corpus.line(pair));
    batch.links = token_links(*links_, lines, batch, tokenizer_);
  }
  models::Loss result = model_.loss(batch, context);
  return {std::move(result.loss), result.negative_log_likelihood, batch.num_target_tokens(),
          static_cast<Index>(batch.source.ids.size())};
}

std::optional<double> TranslationTask::validation_loss(const ShouldStop& should_stop) const {
  return train::validation_loss(model_, validation_->corpus, options_.batch_tokens, should_stop);
}

bool TranslationTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  std::vector<std::string> lines = validation_->source;
  const std::size_t num_samples = std::min(lines.size(), max_samples);
  if (!options_.validation_bleu) lines.resize(num_samples);
  const auto translations = validation_translations(model_, tokenizer_, lines, should_stop);
  if (!translations) return false;
  if (options_.validation_bleu) {
    const metrics::BleuOptions bleu{.tokenizer = options_.tokenize};
    report.bleu = metrics::corpus_bleu(*translations, validation_->target, bleu).score;
  }
  for (std::size_t i = 0; i < num_samples; ++i) {
    report.samples.push_back({lines[i], (*translations)[i], validation_->target[i]});
  }
  return true;
}

void TranslationTask::save_model(const std::string& folder) const {
  models::save_model_folder(folder, model_, tokenizer_);
}

void TranslationTask::save_vocabulary(const std::string& folder) const {
  models::save_tokenizer(folder, tokenizer_);
}

}  // namespace heed::train
