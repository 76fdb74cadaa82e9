#include "heed/infer/beam_search.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/search_rows.h"
#include "heed/infer/token_rules.h"

namespace heed::infer {
namespace {

// 30 rows of 10,000 logits are 1.2 MB: they stay in the caches from the product to the choice, and
// are whole micro-kernel tiles for a beam of 5.
constexpr Index rows_at_once = 30;

// What a search of one sentence reads besides the model's output.
struct SentenceInput {
  std::vector<int> prompt;  // of a language model, or the token that starts the decoder
  std::vector<int> source;  // what the encoder reads, or the prompt
  Index max_length = 0;
  Index num_prefix = 0;  // tokens that are given, not chosen
};

// All sentences of a batch, step by step. Rows are the live hypotheses of the sentences that are
// not finished, in the order of the sentences.
class Search {
 public:
  Search(SearchRows& rows, std::vector<SentenceInput> inputs, std::vector<SentenceBeams> sentences,
         const BeamSearchOptions& options, const text::SpecialTokens& tokens)
      : rows_(rows),
        inputs_(std::move(inputs)),
        sentences_(std::move(sentences)),
        options_(options),
        tokens_(tokens),
        has_rules_(has_any(options.token_rules) ||
                   (options.rules == models::SearchRules::transformers &&
                    options.constraints.has_forbidden())) {}

  std::vector<std::vector<Hypothesis>> run() {
    while (rows_.num_rows() > 0) step();
    std::vector<std::vector<Hypothesis>> best;
    for (SentenceBeams& sentence : sentences_) best.push_back(sentence.take_best());
    return best;
  }

 private:
  void step() {
    std::vector<int> tokens;
    std::vector<Index> first_rows;  // of each sentence
    for (std::size_t s = 0; s < sentences_.size(); ++s) {
      first_rows.push_back(std::ssize(tokens));
      for (const std::vector<int>& ids : sentences_[s].live_ids()) {
        tokens.push_back(ids.empty() ? inputs_[s].prompt.back() : ids.back());
      }
    }
    const Tensor decoded = rows_.step(tokens);  // [rows, D]
    const std::vector<std::vector<float>> attention = rows_.attention();
    const Index num_sentences = std::ssize(sentences_);
    for (Index begin = 0, left = std::ssize(tokens); left > 0;) {
      // Parts of nearly one size: a small one would read all of the weight for a few rows.
      const Index wanted = quotient_up(left, quotient_up(left, rows_at_once));
      Index rows = 0, end = begin;
      do {
        rows += sentences_[end++].num_live();
      } while (end < num_sentences && rows < wanted &&
               rows + sentences_[end].num_live() <= rows_at_once);
      choose_tokens(decoded, attention, begin, end, first_rows);
      begin = end;
      left -= rows;
    }
    keep_live_rows(first_rows);
  }

  // The next tokens of sentences [begin, end). Only their rows of the logits exist at one time.
  void choose_tokens(const Tensor& decoded, std::span<const std::vector<float>> attention,
                     Index begin, Index end, const std::vector<Index>& first_rows) {
    const Index first = first_rows[begin];
    const Index num_rows = first_rows[end - 1] + sentences_[end - 1].num_live() - first;
    if (num_rows == 0) return;
    const Index dim = decoded.dim(-1);
    const Tensor rows =
        Tensor::from(decoded.values().subspan(first * dim, num_rows * dim), {num_rows, dim});
    Tensor logits = rows_.logits(rows);  // [num_rows, V]
    const std::span<float> values(logits.data(), static_cast<std::size_t>(logits.size()));
    const std::size_t width = logits.dim(-1);
    parallel_for(end - begin, [&](Index piece) {
      SentenceBeams& sentence = sentences_[begin + piece];
      if (sentence.is_finished()) return;
      const Index row = first_rows[begin + piece], count = sentence.num_live();
      const std::vector<LogProbabilities> next =
          next_scores(begin + piece, values.subspan((row - first) * width, count * width), width);
      sentence.advance({next, attention.empty() ? attention : attention.subspan(row, count)});
    });
  }

  // After each live hypothesis of a sentence, whose logits may change.
  std::vector<LogProbabilities> next_scores(Index sentence, std::span<float> logits,
                                            std::size_t width) const {
    std::vector<LogProbabilities> next;
    if (!has_rules_) {
      for (std::size_t begin = 0; begin < logits.size(); begin += width) {
        next.push_back(LogProbabilities::of_logits(logits.subspan(begin, width)));
      }
      return next;
    }
    for (const std::vector<int>& ids : sentences_[sentence].live_ids()) {
      next.push_back(ruled_scores(inputs_[sentence], ids, logits.first(width)));
      logits = logits.subspan(width);
    }
    return next;
  }

  LogProbabilities ruled_scores(const SentenceInput& input, const std::vector<int>& ids,
                                std::span<float> scores) const {
    const auto own = LogProbabilities::of_logits(scores);
    const bool is_end_forced =
        options_.rules == models::SearchRules::heed && std::ssize(ids) >= input.max_length;
    if (std::ssize(ids) < input.num_prefix || is_end_forced) return own;
    std::vector<int> past = input.prompt;
    past.insert(past.end(), ids.begin(), ids.end());
    const TokenHistory history{past, std::ssize(input.prompt), input.source, input.max_length};
    const bool is_greedy = options_.beam_size == 1;
    if (!is_greedy) {
      for (std::size_t token = 0; token < scores.size(); ++token) scores[token] = own[token];
    }
    // Here a forbidden sequence may start in the prompt.
    options_.constraints.forbid(scores, past);
    apply_rules(scores, history, options_.token_rules, tokens_);
    return is_greedy ? LogProbabilities::of_logits(scores) : LogProbabilities::of_values(scores);
  }

  void keep_live_rows(const std::vector<Index>& first_rows) {
    std::vector<Index> rows;
    for (std::size_t s = 0; s < sentences_.size(); ++s) {
      for (const Index parent : sentences_[s].parents()) rows.push_back(first_rows[s] + parent);
    }
    rows_.reorder(rows);
  }

  SearchRows& rows_;
  std::vector<SentenceInput> inputs_;
  std::vector<SentenceBeams> sentences_;
  const BeamSearchOptions& options_;
  const text::SpecialTokens& tokens_;
  bool has_rules_;
};

void check_options(const BeamSearchOptions& options) {
  check_as(ErrorKind::usage, options.beam_size >= 1 && options.beam_size <= models::max_beam_size,
           "`beam_size`: expected a whole number from 1 to ", models::max_beam_size, ", found ",
           options.beam_size);
  check_as(ErrorKind::usage, options.n_best >= 1 && options.n_best <= options.beam_size,
           "`n_best`: expected a whole number from 1 to the beam's ", options.beam_size, ", found ",
           options.n_best);
  check_as(ErrorKind::usage, options.num_groups >= 1 && options.beam_size % options.num_groups == 0,
           "beam search: expected groups that divide the beam of ", options.beam_size, ", found ",
           options.num_groups);
  const auto check_penalty = [](const char* name, double penalty, double least, double most) {
    const bool is_good = penalty >= least && penalty <= most;  // NaN is neither
    check_as(ErrorKind::usage, is_good, "`", name, "`: expected a number from ", least, " to ",
             most, ", found ", penalty);
  };
  check_penalty("length_penalty", options.length_penalty, -models::max_length_penalty,
                models::max_length_penalty);
  check_penalty("diversity_penalty", options.diversity_penalty, 0, largest_score_penalty);
  check_penalty("coverage_penalty", options.coverage_penalty, 0, largest_score_penalty);
}

void check_tokens(const BeamSearchOptions& options, const models::TransformerConfig& config) {
  const text::SpecialTokens tokens = special_tokens(options, config);
  const bool has_end = options.rules == models::SearchRules::transformers || !tokens.ends.empty();
  check_as(ErrorKind::model, has_end, "beam search: expected a model with an end token, got none");
  std::vector<int> ids = tokens.ends;
  if (config.kind == models::ModelKind::translation) ids.push_back(tokens.decoder_start);
  for (const int id : ids) {
    check_as(ErrorKind::model, id >= 0 && id < config.vocabulary,
             "special tokens: expected ids below ", config.vocabulary, ", found ", id);
  }
  check_rules(options.token_rules, config.vocabulary);
}

void check_observer(const BeamSearchOptions& options, Index num_sources) {
  check(!options.observer || (num_sources == 1 && options.num_groups == 1),
        "beam search: expected one source and one group to observe, got ", num_sources, " and ",
        options.num_groups);
}

void check_prefixes(std::span<const std::vector<int>> prefixes, Index num_sources,
                    const models::TransformerConfig& config) {
  check(prefixes.empty() || std::ssize(prefixes) == num_sources,
        "beam search: expected the prefixes of ", num_sources, " sources, got ", prefixes.size());
  const Index limit = max_positions(config) - 1;
  for (const std::vector<int>& prefix : prefixes) {
    check_as(ErrorKind::data, std::ssize(prefix) <= limit,
             "beam search: expected a prefix of at most ", limit, " tokens, got ", prefix.size());
    for (const int token : prefix) {
      check(token >= 0 && token < config.vocabulary,
            "beam search: expected a prefix of tokens below ", config.vocabulary, ", got ", token);
    }
  }
}

std::vector<int> ids_of(const models::PackedIds& packed, Index sequence) {
  const Span& span = packed.spans[sequence];
  const auto begin = packed.ids.begin() + span.begin;
  return {begin, begin + span.length};
}

void check_prompts(const BeamSearchOptions& options, const models::PackedIds& prompts,
                   std::span<const Index> limits, const models::TransformerConfig& config) {
  check(options.rules == models::SearchRules::transformers,
        "beam search: expected the rules of transformers for a language model, got others");
  check_as(ErrorKind::usage, options.coverage_penalty == 0,
           "`coverage_penalty`: expected 0 for a language model, which has no source, found ",
           options.coverage_penalty);
  check(std::ssize(limits) == prompts.spans.count(), "beam search: expected the limits of ",
        prompts.spans.count(), " prompts, got ", limits.size());
  for (const Span& span : prompts.spans) {
    check_as(ErrorKind::data, span.length >= 1 && span.length <= config.max_positions,
             "beam search: expected a prompt of 1 to ", config.max_positions, " tokens, got ",
             span.length);
  }
  for (const Index limit : limits) {
    check(limit >= 1, "beam search: expected a limit of at least 1 token, got ", limit);
  }
}

}  // namespace

Index default_max_length(Index source_length) {
  constexpr Index beyond_reason = 4096;
  return std::min(2 * source_length + 50, std::max(beyond_reason, source_length));
}

Index max_length(Index source_length, const BeamSearchOptions& options,
                 const models::TransformerConfig& config) {
  const Index wanted =
      options.max_length > 0 ? options.max_length : default_max_length(source_length);
  const bool is_end_apart = options.rules == models::SearchRules::heed;
  return std::min(wanted, max_positions(config) - (is_end_apart ? 1 : 0));
}

text::SpecialTokens special_tokens(const BeamSearchOptions& options,
                                   const models::TransformerConfig& config) {
  return options.tokens.value_or(config.tokens);
}

void check_search(const BeamSearchOptions& options, std::span<const std::vector<int>> prefixes,
                  Index num_sources, const models::TransformerConfig& config) {
  check_options(options);
  check_tokens(options, config);
  check_prefixes(prefixes, num_sources, config);
  check_observer(options, num_sources);
}

std::vector<std::vector<Hypothesis>> beam_search(const models::TranslationModel& model,
                                                 const models::PackedIds& sources,
                                                 const BeamSearchOptions& options,
                                                 std::span<const std::vector<int>> prefixes) {
  check_search(options, prefixes, sources.spans.count(), model.config());
  if (sources.spans.count() == 0) return {};
  const text::SpecialTokens tokens = special_tokens(options, model.config());
  std::vector<SentenceInput> inputs;
  std::vector<SentenceBeams> sentences;
  for (Index s = 0; s < sources.spans.count(); ++s) {
    const std::vector<int> prefix = prefixes.empty() ? std::vector<int>() : prefixes[s];
    const Index limit = max_length(sources.spans[s].length, options, model.config());
    sentences.emplace_back(limit, prefix, options, tokens);
    inputs.push_back({{tokens.decoder_start}, ids_of(sources, s), limit, std::ssize(prefix)});
  }
  const NoGrad no_grad;
  const auto rows = search_rows(model, sources,
                                {.rows_per_sequence = options.num_groups,
                                 .has_attention = options.coverage_penalty > 0,
                                 .hook = options.hook});
  return Search(*rows, std::move(inputs), std::move(sentences), options, tokens).run();
}

std::vector<std::vector<Hypothesis>> beam_search(const models::LanguageModel& model,
                                                 const models::PackedIds& prompts,
                                                 const BeamSearchOptions& options,
                                                 std::span<const Index> limits) {
  check_search(options, {}, prompts.spans.count(), model.config());
  check_prompts(options, prompts, limits, model.config());
  if (prompts.spans.count() == 0) return {};
  const text::SpecialTokens tokens = special_tokens(options, model.config());
  std::vector<SentenceInput> inputs;
  std::vector<SentenceBeams> sentences;
  for (Index s = 0; s < prompts.spans.count(); ++s) {
    const std::vector<int> prompt = ids_of(prompts, s);
    const Index room = model.config().max_positions - std::ssize(prompt) + 1;
    const Index limit = std::min(limits[s], room);
    sentences.emplace_back(limit, std::span<const int>(), options, tokens);
    inputs.push_back({prompt, prompt, limit});
  }
  const NoGrad no_grad;
  const auto rows =
      search_rows(model, prompts, {.rows_per_sequence = options.num_groups, .hook = options.hook});
  return Search(*rows, std::move(inputs), std::move(sentences), options, tokens).run();
}

}  // namespace heed::infer
