#include "heed/generate/translator.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/generate/packing.h"

namespace heed::generate {
namespace {

// A sentence costs at least this many tokens, or a batch of one-word lines would have too many
// rows.
constexpr Index min_cost = 16;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

}  // namespace

Translator Translator::load(const std::string& folder) {
  models::ModelFolder loaded = models::load_model_folder(folder);
  return Translator(std::move(loaded.model), std::move(loaded.tokenizer), loaded.generation);
}

Translator::Translator(models::TranslationModel model, text::Tokenizer tokenizer,
                       models::GenerationConfig generation)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), generation_(generation) {}

BeamSearchOptions Translator::default_search() const {
  return {.beam_size = generation_.beam_size,
          .length_penalty = generation_.length_penalty,
          .max_length = generation_.max_length};
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines) const {
  return translate(lines, {.search = default_search()});
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines,
                                               const TranslationOptions& options) const {
  const std::vector<Source> sources = tokenized(lines, options.first_line);
  std::vector<Translation> translations(lines.size(), Translation{{TranslatedLine{}}});
  std::size_t begin = 0;
  while (begin < sources.size()) {
    std::size_t end = begin;
    for (Index cost = 0; end < sources.size(); ++end) {
      cost += std::max(static_cast<Index>(sources[end].ids.size()), min_cost);
      if (cost > options.batch_tokens && end > begin) break;
    }
    translate_batch(std::span(sources).subspan(begin, end - begin), options, translations);
    begin = end;
  }
  return translations;
}

// The lines that are not blank, the longest first, so that the sentences of a batch end together.
std::vector<Translator::Source> Translator::tokenized(std::span<const std::string> lines,
                                                      Index first_line) const {
  const bool is_bounded = model_.config().positions == models::Positions::learned;
  const Index max_tokens = model_.config().max_positions - 1;  // and the end token
  std::vector<Source> sources;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    std::vector<int> ids = tokenizer_.encode(lines[i]);
    const auto length = static_cast<Index>(ids.size());
    check_as(ErrorKind::data, !is_bounded || length <= max_tokens, "line ",
             first_line + static_cast<Index>(i), ": expected at most ", max_tokens,
             " tokens, found ", length);
    if (!ids.empty()) sources.push_back({i, std::move(ids)});
  }
  std::ranges::stable_sort(sources, std::greater{},
                           [](const Source& source) { return source.ids.size(); });
  return sources;
}

void Translator::translate_batch(std::span<const Source> batch, const TranslationOptions& options,
                                 std::span<Translation> translations) const {
  std::vector<std::vector<int>> sources;
  for (const Source& source : batch) sources.push_back(source.ids);
  const auto found = beam_search(model_, pack_sources(sources), options.search);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::vector<TranslatedLine>& best = translations[batch[i].line].best;
    best.clear();
    for (const Hypothesis& hypothesis : found[i]) {
      best.push_back(
          {tokenizer_.decode(hypothesis.ids), hypothesis.score, hypothesis.normalised_score, {}});
    }
  }
  if (options.with_alignment) align(batch, found, translations);
}

void Translator::align(std::span<const Source> batch,
                       std::span<const std::vector<Hypothesis>> hypotheses,
                       std::span<Translation> translations) const {
  std::vector<std::vector<int>> sources, targets;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (const Hypothesis& hypothesis : hypotheses[i]) {
      sources.push_back(batch[i].ids);
      targets.push_back(hypothesis.ids);
    }
  }
  const std::vector<Tensor> weights =
      cross_attention_weights(model_, sources, targets, first_alignment_layer(model_.config()));
  std::size_t pair = 0;
  for (const Source& source : batch) {
    for (TranslatedLine& line : translations[source.line].best) {
      line.alignment = align_words(weights[pair], words_of_pieces(sources[pair], tokenizer_),
                                   words_of_pieces(targets[pair], tokenizer_));
      ++pair;
    }
  }
}

}  // namespace heed::generate
