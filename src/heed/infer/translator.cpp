#include "heed/infer/translator.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/greedy_search.h"
#include "heed/infer/packing.h"
#include "heed/infer/token_limit.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

namespace heed::infer {
namespace {

// A sentence costs at least this many tokens, or a batch of one-word lines would have too many
// rows.
constexpr Index min_cost = 16;

std::vector<TokenScore> tokens_of(const Hypothesis& hypothesis) {
  std::vector<TokenScore> tokens;
  for (std::size_t i = 0; i < hypothesis.log_probabilities.size(); ++i) {
    const bool is_end = i == hypothesis.ids.size();
    tokens.push_back(
        {is_end ? text::Tokenizer::end : hypothesis.ids[i], hypothesis.log_probabilities[i]});
  }
  return tokens;
}

}  // namespace

// Neighbours, as many as make up batch_tokens; at least one.
std::vector<std::span<const Translator::Source>> Translator::in_batches(
    std::span<const Source> sources, Index batch_tokens) {
  std::vector<std::span<const Source>> batches;
  for (std::size_t begin = 0, end = 0; begin < sources.size(); begin = end) {
    for (Index cost = 0; end < sources.size(); ++end) {
      cost += std::max(static_cast<Index>(sources[end].ids.size()), min_cost);
      if (cost > batch_tokens && end > begin) break;
    }
    batches.push_back(sources.subspan(begin, end - begin));
  }
  return batches;
}

Translator Translator::load(const std::string& folder) {
  models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder);
  // Nobody else knows these weights, so they can be packed once and for all.
  return Translator(models::pack(loaded.model), std::move(loaded.tokenizer), loaded.generation);
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
  check(options.prefixes.size() <= 1 || options.prefixes.size() == lines.size(),
        "translator: expected one prefix or one for each of ", lines.size(), " lines, got ",
        options.prefixes.size());
  const std::vector<Source> sources = tokenized(lines, options);
  const std::vector<std::span<const Source>> batches = in_batches(sources, options.batch_tokens);
  std::vector<Translation> translations(lines.size(), Translation{{TranslatedLine{}}});
  if (batches.empty()) return translations;
  const models::TranslationModel model = model_.is_packed() ? model_ : models::pack(model_);
  const std::optional<ops::ArgmaxProjection> finder = finder_for(options);
  // Whole batches side by side: threads that share the small products of one batch would spend
  // their time on waiting for each other. A single batch has all threads to itself.
  parallel_longest_first(std::ssize(batches), [&](Index batch) {
    translate_batch(model, batches[batch], options, finder, translations);
  });
  return translations;
}

std::optional<ops::ArgmaxProjection> Translator::finder_for(
    const TranslationOptions& options) const {
  if (options.with_scores || !is_greedy(options.search)) return std::nullopt;
  if (!model_.is_packed()) return model_.argmax_projection();
  std::call_once(kept_->is_made, [this] { kept_->finder = model_.argmax_projection(); });
  return kept_->finder;
}

// The lines that are not blank, the longest first, so that the sentences of a batch end together.
std::vector<Translator::Source> Translator::tokenized(std::span<const std::string> lines,
                                                      const TranslationOptions& options) const {
  const TokenLimit limit{.max_tokens = max_positions(model_.config()) - 1,  // and the end token
                         .what = "a source",
                         .cut = Cut::end,
                         .truncate = options.truncate};
  std::vector<std::vector<int>> encoded = text::encode_lines(lines, tokenizer_);
  std::vector<Source> sources;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (text::is_blank(lines[i])) continue;
    std::vector<int>& ids = encoded[i];
    fit(ids, options.first_line + static_cast<Index>(i), limit);
    if (!ids.empty()) sources.push_back({i, std::move(ids), prefix_of(i, options)});
  }
  std::ranges::stable_sort(sources, std::greater{},
                           [](const Source& source) { return source.ids.size(); });
  return sources;
}

std::vector<int> Translator::prefix_of(std::size_t line, const TranslationOptions& options) const {
  if (options.prefixes.empty()) return {};
  const std::string& prefix = options.prefixes[options.prefixes.size() == 1 ? 0 : line];
  if (text::is_blank(prefix)) return {};
  std::vector<int> ids = tokenizer_.encode(prefix);
  check_length(std::ssize(ids), options.first_line + static_cast<Index>(line),
               {.max_tokens = max_positions(model_.config()) - 1, .what = "a prefix"});
  return ids;
}

void Translator::translate_batch(const models::TranslationModel& model,
                                 std::span<const Source> batch, const TranslationOptions& options,
                                 const std::optional<ops::ArgmaxProjection>& finder,
                                 std::span<Translation> translations) const {
  std::vector<std::vector<int>> sources, prefixes;
  for (const Source& source : batch) {
    sources.push_back(source.ids);
    prefixes.push_back(source.prefix);
  }
  std::vector<std::vector<Hypothesis>> found;
  if (finder) {
    for (std::vector<int>& ids :
         greedy_search(model, *finder, pack_sources(sources), options.search, prefixes)) {
      found.push_back({Hypothesis{.ids = std::move(ids)}});
    }
  } else {
    found = beam_search(model, pack_sources(sources), options.search, prefixes);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::vector<TranslatedLine>& best = translations[batch[i].line].best;
    best.clear();
    for (const Hypothesis& hypothesis : found[i]) {
      best.push_back({tokenizer_.decode(hypothesis.ids),
                      hypothesis.score,
                      hypothesis.normalised_score,
                      tokens_of(hypothesis),
                      hypothesis.num_missing,
                      {}});
    }
  }
  if (options.with_alignment) align(model, batch, options, found, translations);
}

void Translator::align(const models::TranslationModel& model, std::span<const Source> batch,
                       const TranslationOptions& options,
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
      alignment_weights(model, sources, targets, options.search.hook);
  std::size_t pair = 0;
  for (const Source& source : batch) {
    for (TranslatedLine& line : translations[source.line].best) {
      line.alignment = align_words(weights[pair], text::words_of_pieces(sources[pair], tokenizer_),
                                   text::words_of_pieces(targets[pair], tokenizer_));
      ++pair;
    }
  }
}

}  // namespace heed::infer
