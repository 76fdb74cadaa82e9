#include "heed/infer/line_classifier.h"

namespace heed::infer {

LineClassifier LineClassifier::load(const std::string& folder) {
  models::ClassifierFolder loaded = models::load_model_folder<models::Classifier>(folder);
  nn::pack_weights(loaded.model);
  return {std::move(loaded.model), std::move(loaded.tokenizer)};
}

LineClassifier::LineClassifier(models::Classifier model, text::Tokenizer tokenizer)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)) {}

ClassProbability LineClassifier::classify(std::string_view line) const {
  const std::string text(line);
  return classify(std::span(&text, 1)).front().front();
}

std::vector<std::vector<ClassProbability>> LineClassifier::classify(
    std::span<const std::string> lines, Index count, const LineOptions& options) const {
  const auto encoded = encode_lines(lines, tokenizer_, model_.config(), options);
  const auto num_classes = static_cast<Index>(labels().size());
  std::vector<std::vector<ClassProbability>> results(lines.size());
  over_batches(encoded, options.batch_tokens, [&](Index first, const models::PackedIds& input) {
    auto context = nn::ForwardContext::inference(nullptr, options.hook);
    const Tensor logits = model_.logits(input, context);
    for (Index line = 0; line < logits.dim(0); ++line) {
      const auto row = logits.values().subspan(line * num_classes, num_classes);
      results[first + line] = most_likely_classes(row, labels(), count);
    }
  });
  return results;
}

}  // namespace heed::infer
