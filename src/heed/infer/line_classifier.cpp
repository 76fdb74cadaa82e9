#include "heed/infer/line_classifier.h"

#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/model_folder.h"

namespace heed::infer {

LineClassifier LineClassifier::load(const std::string& folder) {
  models::ClassifierFolder loaded = models::load_model_folder<models::Classifier>(folder);
  return {models::pack(loaded.model), std::move(loaded.tokenizer)};
}

LineClassifier::LineClassifier(models::Classifier model, text::Tokenizer tokenizer)
    : model_(std::make_shared<const models::Classifier>(std::move(model))),
      tokenizer_(std::move(tokenizer)) {}

const std::vector<std::string>& LineClassifier::labels() const { return model_->config().labels; }

ClassProbability LineClassifier::classify(std::string_view line) const {
  const std::string text(line);
  return classify(std::span(&text, 1)).front().front();
}

std::vector<std::vector<ClassProbability>> LineClassifier::classify(
    std::span<const std::string> lines, Index count, const LineOptions& options) const {
  const auto encoded = encode_lines(lines, tokenizer_, model_->config(), options);
  const auto num_classes = std::ssize(labels());
  std::vector<std::vector<ClassProbability>> results(lines.size());
  over_batches(encoded, options.batch_tokens, [&](Index first, const models::PackedIds& input) {
    auto context = nn::ForwardContext::inference(nullptr, options.hook);
    const Tensor logits = model_->logits(input, context);
    for (Index line = 0; line < logits.dim(0); ++line) {
      const auto row = logits.values().subspan(line * num_classes, num_classes);
      results[first + line] = most_likely_classes(row, labels(), count);
    }
  });
  return results;
}

}  // namespace heed::infer
