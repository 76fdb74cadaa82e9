#include "heed/infer/line_classifier.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/model_folder.h"

namespace heed::infer {
namespace {

void check_problem(const models::TransformerConfig& config, bool wants_number) {
  const bool is_regression = config.problem_type == ProblemType::regression;
  check_as(ErrorKind::model, is_regression == wants_number, "model: expected a classifier of ",
           wants_number ? "numbers (regression)" : "labels", ", found ",
           name_of(config.problem_type));
}

void check_texts(const models::TransformerConfig& config, const TextLines& lines) {
  const bool has_pairs = !lines.second.empty();
  const bool may_be_either = !config.family.empty() && !config.text_pairs;
  check_as(ErrorKind::model, may_be_either || lines.first.empty() || has_pairs == config.text_pairs,
           "model: expected a classifier of ", has_pairs ? "pairs of texts" : "single texts",
           ", found one of ", config.text_pairs ? "pairs of texts" : "single texts");
}

}  // namespace

LineClassifier LineClassifier::load(const std::string& folder,
                                    std::optional<WeightFormat> weights) {
  models::ClassifierFolder loaded = models::load_model_folder<models::Classifier>(
      folder, {.for_inference = true, .weights = weights});
  return {std::move(loaded.model), std::move(loaded.tokenizer)};
}

LineClassifier::LineClassifier(models::Classifier model, text::Tokenizer tokenizer)
    : model_(std::make_shared<const models::Classifier>(std::move(model))),
      tokenizer_(std::move(tokenizer)) {}

const std::vector<std::string>& LineClassifier::labels() const { return model_->config().labels; }
ProblemType LineClassifier::problem_type() const { return model_->config().problem_type; }
bool LineClassifier::reads_pairs() const { return model_->config().text_pairs; }
bool LineClassifier::may_read_pairs() const {
  return reads_pairs() || !model_->config().family.empty();
}

ClassProbability LineClassifier::classify(std::string_view line) const {
  const std::string text(line);
  return classify(std::span(&text, 1)).front().front();
}

std::vector<std::vector<ClassProbability>> LineClassifier::classify(
    std::span<const std::string> lines, Index count, const LineOptions& options) const {
  return classify(TextLines{lines}, count, options);
}

std::vector<std::vector<ClassProbability>> LineClassifier::classify(
    const TextLines& lines, Index count, const LineOptions& options) const {
  check_problem(model_->config(), /*wants_number=*/false);
  check_count(count);
  std::vector<std::vector<ClassProbability>> results(lines.first.size());
  const bool has_label_sets = problem_type() == ProblemType::multi_label;
  over_lines(lines, options, [&](std::size_t line, std::span<const float> logits) {
    if (!has_label_sets) {
      results[line] = most_likely_classes(logits, labels(), count);
      return;
    }
    results[line] = label_probabilities(logits, labels());
    if (std::ssize(results[line]) > count) results[line].resize(static_cast<std::size_t>(count));
  });
  return results;
}

std::vector<double> LineClassifier::scores(const TextLines& lines,
                                           const LineOptions& options) const {
  const models::TransformerConfig& config = model_->config();
  check_problem(config, /*wants_number=*/true);
  std::vector<double> results(lines.first.size());
  over_lines(lines, options, [&](std::size_t line, std::span<const float> logits) {
    check_as(ErrorKind::model, std::isfinite(logits.front()),
             "model: expected a finite number, found ", logits.front());
    results[line] = double{config.score_mean} + double{config.score_scale} * logits.front();
  });
  return results;
}

void LineClassifier::over_lines(const TextLines& lines, const LineOptions& options,
                                const UseLogits& use) const {
  const models::TransformerConfig& config = model_->config();
  check_texts(config, lines);
  const auto encoded = !lines.second.empty()
                           ? encode_pairs(lines.first, lines.second, tokenizer_, config, options)
                           : encode_lines(lines.first, tokenizer_, config, options);
  over_batches(encoded, tokenizer_.sequence(), options.batch_tokens,
               [&](Index first, const models::PackedIds& input) {
                 auto context = nn::ForwardContext::inference(nullptr, options.hook);
                 const Tensor logits = model_->logits(input, context);
                 const Index width = logits.dim(1);
                 for (Index line = 0; line < logits.dim(0); ++line) {
                   use(static_cast<std::size_t>(first + line),
                       logits.values().subspan(line * width, width));
                 }
               });
}

}  // namespace heed::infer
