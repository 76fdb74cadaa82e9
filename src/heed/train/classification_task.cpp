#include "heed/train/classification_task.h"

#include <algorithm>

#include "heed/metrics/classification.h"
#include "heed/models/model_folder.h"

namespace heed::train {
namespace {

models::ClassifierBatch make_batch(const LabelledCorpus& corpus, std::span<const Index> lines) {
  models::ClassifierBatch batch;
  std::vector<std::span<const int>> inputs;
  for (const Index line : lines) {
    inputs.push_back(corpus.lines.ids(line));
    batch.classes.push_back(corpus.classes[static_cast<std::size_t>(line)]);
  }
  batch.input = models::pack(inputs);
  return batch;
}

// Calls work(batch, context) for all lines in their order, as long as nobody says stop.
template <typename Work>
bool over_batches(const LabelledCorpus& corpus, Index batch_tokens, const ShouldStop& should_stop,
                  Work&& work) {
  const NoGrad no_grad;
  const auto plan = data::BatchPlan::in_order(corpus.lines.sizes(), batch_tokens);
  for (Index i = 0; i < plan.size(); ++i) {
    if (should_stop()) return false;
    auto context = nn::ForwardContext::inference();
    work(make_batch(corpus, plan.batch(i)), context);
  }
  return true;
}

}  // namespace

ClassificationTask::ClassificationTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                                       LabelledCorpus corpus,
                                       std::optional<LabelledCorpus> validation,
                                       models::Classifier model)
    : options_(options),
      tokenizer_(std::move(tokenizer)),
      corpus_(std::move(corpus)),
      validation_(std::move(validation)),
      model_(std::move(model)),
      plan_(options.batch_tokens, options.seed) {
  if (options.class_weights == ClassWeights::balanced) {
    class_weights_ = balanced_weights(corpus_.classes, model_.config().labels.size());
  }
}

RunStart ClassificationTask::run_start(Index, Index update) {
  RunStart start;
  start.num_parameters = models::num_parameters(model_.config());
  start.vocabulary = tokenizer_.size();
  start.examples = "lines";
  start.num_examples = corpus_.lines.size();
  start.num_blank = corpus_.lines.num_blank();
  start.num_too_long = corpus_.lines.num_too_long();
  if (validation_) {
    const data::LineCorpus& lines = validation_->lines;
    start.num_valid_examples = lines.size();
    start.num_valid_left_out = lines.num_blank() + lines.num_too_long();
  }
  start.update = update;
  return start;
}

Index ClassificationTask::num_batches(Index epoch) {
  return plan_.of_epoch(epoch, corpus_.lines.sizes()).size();
}

BatchLoss ClassificationTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const data::BatchPlan& plan = plan_.of_epoch(epoch, corpus_.lines.sizes());
  const models::ClassifierBatch batch = make_batch(corpus_, plan.batch(number));
  models::Loss result = model_.loss(batch, context, class_weights_);
  return {std::move(result.loss), result.negative_log_likelihood, batch.num_lines(),
          std::ssize(batch.input.ids)};
}

std::optional<double> ClassificationTask::validation_loss(const ShouldStop& should_stop) const {
  double loss = 0;
  const bool is_whole =
      over_batches(*validation_, options_.batch_tokens, should_stop,
                   [&](const models::ClassifierBatch& batch, nn::ForwardContext& context) {
                     loss += model_.loss(batch, context).negative_log_likelihood;
                   });
  if (!is_whole) return std::nullopt;
  return loss / static_cast<double>(validation_->lines.size());
}

bool ClassificationTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  std::vector<int> given;
  const auto num_classes = static_cast<int>(model_.config().labels.size());
  const bool is_whole = over_batches(
      *validation_, options_.batch_tokens, should_stop,
      [&](const models::ClassifierBatch& batch, nn::ForwardContext& context) {
        const Tensor logits = model_.logits(batch.input, context);
        for (Index line = 0; line < batch.num_lines(); ++line) {
          const float* row = logits.data() + line * num_classes;
          given.push_back(static_cast<int>(std::max_element(row, row + num_classes) - row));
        }
      });
  if (!is_whole) return false;
  const metrics::ConfusionTable table(validation_->classes, given, num_classes);
  report.accuracy = metrics::accuracy(table);
  report.macro_f1 = metrics::macro_f1(table);
  return true;
}

void ClassificationTask::save_model(const std::string& folder) const {
  models::save_model_folder(folder, model_, tokenizer_);
}

void ClassificationTask::save_vocabulary(const std::string& folder) const {
  models::save_tokenizer(folder, tokenizer_);
}

}  // namespace heed::train
