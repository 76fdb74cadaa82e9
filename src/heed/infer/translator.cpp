#include "heed/infer/translator.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/infer/alignment.h"
#include "heed/infer/beam_search.h"
#include "heed/infer/generation_options.h"
#include "heed/infer/greedy_search.h"
#include "heed/infer/packing.h"
#include "heed/infer/token_limit.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/ops/argmax_projection.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

namespace heed::infer {
namespace {

// A sentence costs at least this many tokens, or a batch of one-word lines would have too many
// rows.
constexpr Index min_cost = 16;

std::vector<TokenScore> tokens_of(const Hypothesis& hypothesis, int end) {
  std::vector<TokenScore> tokens;
  for (std::size_t i = 0; i < hypothesis.log_probabilities.size(); ++i) {
    const bool is_end = i == hypothesis.ids.size();
    tokens.push_back({is_end ? end : hypothesis.ids[i], hypothesis.log_probabilities[i]});
  }
  return tokens;
}

}  // namespace

class Translator::Impl {
 public:
  Impl(models::TranslationModel model, text::Tokenizer tokenizer,
       const models::GenerationConfig& generation)
      : model_(std::move(model)), tokenizer_(std::move(tokenizer)), generation_(generation) {}

  const models::TranslationModel& model() const { return model_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  const models::GenerationConfig& generation() const { return generation_; }

  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const TranslationOptions& options) const;

 private:
  struct Source {
    std::size_t line;
    std::vector<int> ids;     // without the end token
    std::vector<int> prefix;  // of the translation
  };

  std::vector<Source> tokenize(std::span<const std::string> lines,
                               const TranslationOptions& options) const;
  std::vector<int> prefix_of(std::size_t line, const TranslationOptions& options) const;
  void translate_batch(const models::TranslationModel& model, std::span<const Source> batch,
                       const TranslationOptions& options,
                       const std::optional<ops::ArgmaxProjection>& projection,
                       std::span<Translation> translations) const;
  void align(const models::TranslationModel& model, std::span<const Source> batch,
             const TranslationOptions& options, std::span<const std::vector<Hypothesis>> hypotheses,
             std::span<Translation> translations) const;

  // For greedy search without scores; nothing for any other.
  std::optional<ops::ArgmaxProjection> projection_for(const TranslationOptions& options) const;

  models::TranslationModel model_;
  text::Tokenizer tokenizer_;
  models::GenerationConfig generation_;
  // The projection of a packed model, whose weights do not change: made once, when first needed.
  mutable std::once_flag has_projection_;
  mutable std::optional<ops::ArgmaxProjection> projection_;
};

std::vector<Translation> Translator::Impl::translate(std::span<const std::string> lines,
                                                     const TranslationOptions& options) const {
  check(options.prefixes.size() <= 1 || options.prefixes.size() == lines.size(),
        "translator: expected one prefix or one for each of ", lines.size(), " lines, got ",
        options.prefixes.size());
  const std::vector<Source> sources = tokenize(lines, options);
  const auto batches = data::batches_in_order(
      std::span(sources), options.batch_tokens,
      [](const Source& source) { return std::max(std::ssize(source.ids), min_cost); });
  std::vector<Translation> translations(lines.size(), Translation{{TranslatedLine{}}});
  if (batches.empty()) return translations;
  const models::TranslationModel model = model_.is_packed() ? model_ : models::pack(model_);
  const std::optional<ops::ArgmaxProjection> projection = projection_for(options);
  // Whole batches in parallel: threads that share the small products of one batch would spend
  // their time waiting for each other. A single batch has all threads to itself.
  parallel_longest_first(std::ssize(batches), [&](Index batch) {
    translate_batch(model, batches[batch], options, projection, translations);
  });
  return translations;
}

std::optional<ops::ArgmaxProjection> Translator::Impl::projection_for(
    const TranslationOptions& options) const {
  if (options.with_scores || !is_greedy(options.search)) return std::nullopt;
  if (!model_.is_packed()) return model_.argmax_projection();
  std::call_once(has_projection_, [this] { projection_ = model_.argmax_projection(); });
  return projection_;
}

// The lines that are not blank, longest first, so that the sentences of a batch end together.
std::vector<Translator::Impl::Source> Translator::Impl::tokenize(
    std::span<const std::string> lines, const TranslationOptions& options) const {
  TokenLimit limit = source_limit(model_.config(), "a source", options.truncate);
  limit.max_tokens -= tokenizer_.sequence().num_added() - 1;  // one is counted already
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

std::vector<int> Translator::Impl::prefix_of(std::size_t line,
                                             const TranslationOptions& options) const {
  if (options.prefixes.empty()) return {};
  const std::string& prefix = options.prefixes[options.prefixes.size() == 1 ? 0 : line];
  if (text::is_blank(prefix)) return {};
  std::vector<int> ids = tokenizer_.encode_target(prefix);
  check_length(std::ssize(ids), options.first_line + static_cast<Index>(line),
               {.max_tokens = max_text_tokens(model_.config()) - 1, .what = "a prefix"});
  return ids;
}

void Translator::Impl::translate_batch(const models::TranslationModel& model,
                                       std::span<const Source> batch,
                                       const TranslationOptions& options,
                                       const std::optional<ops::ArgmaxProjection>& projection,
                                       std::span<Translation> translations) const {
  std::vector<std::vector<int>> sources, prefixes;
  for (const Source& source : batch) {
    sources.push_back(tokenizer_.sequence().single(source.ids));
    prefixes.push_back(source.prefix);
  }
  const text::SpecialTokens tokens = special_tokens(options.search, model.config());
  const models::PackedIds packed = models::pack(sources);
  std::vector<std::vector<Hypothesis>> hypotheses;
  if (projection) {
    for (std::vector<int>& ids :
         greedy_search(model, *projection, packed, options.search, prefixes)) {
      hypotheses.push_back({Hypothesis{.ids = std::move(ids)}});
    }
  } else {
    hypotheses = beam_search(model, packed, options.search, prefixes);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::vector<TranslatedLine>& best = translations[batch[i].line].best;
    best.clear();
    for (const Hypothesis& hypothesis : hypotheses[i]) {
      best.push_back({tokenizer_.decode(hypothesis.ids),
                      hypothesis.score,
                      hypothesis.normalised_score,
                      tokens_of(hypothesis, tokens.end()),
                      hypothesis.num_missing,
                      {}});
    }
  }
  if (options.with_alignment) align(model, batch, options, hypotheses, translations);
}

void Translator::Impl::align(const models::TranslationModel& model, std::span<const Source> batch,
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

Translator Translator::load(const std::string& folder, std::optional<WeightFormat> weights) {
  models::TranslationModelFolder loaded = models::load_model_folder<models::TranslationModel>(
      folder, {.for_inference = true, .weights = weights});
  return Translator(std::move(loaded.model), std::move(loaded.tokenizer), loaded.generation);
}

Translator::Translator(models::TranslationModel model, text::Tokenizer tokenizer)
    : Translator(std::move(model), std::move(tokenizer), models::GenerationConfig{}) {}

Translator::Translator(models::TranslationModel model, text::Tokenizer tokenizer,
                       const models::GenerationConfig& generation)
    : impl_(std::make_shared<const Impl>(std::move(model), std::move(tokenizer), generation)) {}

BeamSearchOptions Translator::default_search() const {
  return search_options(impl_->generation(), model().config());
}

std::string Translator::translate(std::string_view line) const {
  const std::string text(line);
  return translate(std::span(&text, 1), {.search = default_search(), .with_scores = false})
      .front()
      .text();
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines) const {
  return translate(lines, {.search = default_search()});
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines,
                                               const TranslationOptions& options) const {
  return impl_->translate(lines, options);
}

const models::TranslationModel& Translator::model() const { return impl_->model(); }

const text::Tokenizer& Translator::tokenizer() const { return impl_->tokenizer(); }

}  // namespace heed::infer
