#include "heed/infer/line_tagger.h"

#include <utility>

#include "heed/infer/class_probabilities.h"
#include "heed/infer/line_batches.h"
#include "heed/models/model_folder.h"
#include "heed/models/tagger.h"
#include "heed/text/encode_words.h"

namespace heed::infer {
namespace {

// The lines that have words: their tokens, and where these lines are.
struct Inputs {
  std::vector<std::vector<int>> ids;
  std::vector<std::vector<Index>> first_tokens;
  std::vector<std::size_t> lines;
};

Inputs inputs_of(std::span<const std::vector<std::string>> words, const text::Tokenizer& tokenizer,
                 const models::TransformerConfig& config, const LineOptions& options) {
  std::vector<text::EncodedWords> encoded = text::encode_words(words, tokenizer);
  Inputs inputs;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i].ids.empty()) continue;
    LineOptions of_line = options;
    of_line.first_line += static_cast<Index>(i);
    check_lengths({&encoded[i].ids, 1}, tokenizer.sequence(), config, of_line);
    inputs.ids.push_back(std::move(encoded[i].ids));
    inputs.first_tokens.push_back(std::move(encoded[i].first_token));
    inputs.lines.push_back(i);
  }
  return inputs;
}

// In the input of a batch whose first line is `first`.
std::vector<Index> places_of(const Inputs& inputs, Index first, const Spans& spans) {
  std::vector<Index> places;
  for (Index line = 0; line < spans.count(); ++line) {
    for (const Index token : inputs.first_tokens[static_cast<std::size_t>(first + line)]) {
      places.push_back(spans[line].begin + token);
    }
  }
  return places;
}

WordTag most_likely_tag(std::string word, std::span<const float> logits,
                        std::span<const std::string> tags) {
  ClassProbability best = most_likely_classes(logits, tags, 1).front();
  return {std::move(word), std::move(best.label), best.probability, best.of_class};
}

}  // namespace

LineTagger LineTagger::load(const std::string& folder) {
  models::TaggerFolder loaded = models::load_model_folder<models::Tagger>(folder);
  return {models::pack(loaded.model), std::move(loaded.tokenizer)};
}

LineTagger::LineTagger(models::Tagger model, text::Tokenizer tokenizer)
    : model_(std::make_shared<const models::Tagger>(std::move(model))),
      tokenizer_(std::move(tokenizer)) {}

const std::vector<std::string>& LineTagger::tags() const { return model_->config().labels; }

std::vector<WordTag> LineTagger::tag(std::string_view line) const {
  const std::string text(line);
  return tag(std::span(&text, 1)).front();
}

std::vector<std::vector<WordTag>> LineTagger::tag(std::span<const std::string> lines,
                                                  const LineOptions& options) const {
  std::vector<std::vector<std::string>> words;
  for (const std::string& line : lines) words.push_back(text::split_words(line));
  const Inputs inputs = inputs_of(words, tokenizer_, model_->config(), options);
  std::vector<std::vector<WordTag>> results(lines.size());
  over_batches(inputs.ids, tokenizer_.sequence(), options.batch_tokens,
               [&](Index first, const models::PackedIds& input) {
                 auto context = nn::ForwardContext::inference(nullptr, options.hook);
                 const Tensor logits = model_->logits(input, places_of(inputs, first, input.spans),
                                                      context);  // [words, tags]
                 Index row = 0;
                 for (Index i = first; i < first + input.spans.count(); ++i) {
                   const std::size_t line = inputs.lines[static_cast<std::size_t>(i)];
                   for (std::string& word : words[line]) {
                     const auto of_word =
                         logits.values().subspan(logits.dim(1) * row++, logits.dim(1));
                     results[line].push_back(most_likely_tag(std::move(word), of_word, tags()));
                   }
                 }
               });
  return results;
}

}  // namespace heed::infer
