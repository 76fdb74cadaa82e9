#include "heed/infer/beam_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/attention_watcher.h"
#include "heed/infer/token_limit.h"
#include "heed/models/model_folder.h"

namespace heed::infer {
namespace {

// 30 rows of 10,000 logits are 1.2 MB: they stay in the caches from the product to the choice, and
// are whole micro-kernel tiles for a beam of 5.
constexpr Index rows_at_once = 30;

std::vector<float> mean_over_heads(const Tensor& weights, Index query) {
  const Index heads = weights.dim(0), queries = weights.dim(1), keys = weights.dim(2);
  std::vector<float> mean(keys, 0.0f);
  for (Index h = 0; h < heads; ++h) {
    const float* row = weights.data() + (h * queries + query) * keys;
    for (Index j = 0; j < keys; ++j) mean[j] += row[j] / static_cast<float>(heads);
  }
  return mean;
}

// All sentences of a batch, step by step. Rows of the decoder's state are the live hypotheses of
// the sentences that are not finished, in the order of the sentences.
class Search {
 public:
  Search(const models::TranslationModel& model, const models::PackedIds& sources,
         const BeamSearchOptions& options, std::span<const std::vector<int>> prefixes)
      : model_(model),
        watcher_("decoder", "cross_attention",
                 {model.config().decoder_layers - 1, model.config().decoder_layers}) {
    for (Index s = 0; s < sources.spans.count(); ++s) {
      const std::span<const int> prefix =
          prefixes.empty() ? std::span<const int>() : std::span(prefixes[s]);
      sentences_.emplace_back(max_length(sources.spans[s].length, options, model.config()), prefix,
                              options);
    }
    is_watched_ = options.coverage_penalty > 0;
    context_ = nn::ForwardContext::inference(is_watched_ ? &watcher_ : nullptr, options.hook);
    const std::vector<Index> rows(sentences_.size(), options.num_groups);
    state_.emplace(model_.start(model_.encode(sources, context_), rows));
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (state_->num_rows() > 0) step();
    std::vector<std::vector<Hypothesis>> best;
    for (SentenceBeams& sentence : sentences_) best.push_back(sentence.take_best());
    return best;
  }

 private:
  void step() {
    std::vector<int> tokens;
    std::vector<Index> first_rows;  // of each sentence
    for (const SentenceBeams& sentence : sentences_) {
      first_rows.push_back(std::ssize(tokens));
      const std::vector<int> last = sentence.last_tokens();
      tokens.insert(tokens.end(), last.begin(), last.end());
    }
    const Tensor decoded = model_.step(tokens, *state_, context_);  // [rows, D]
    const std::vector<std::vector<float>> attention = attention_of_rows();
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

  // Mean over heads of each row's weights, without that of the source's end token; nothing without
  // coverage penalty.
  std::vector<std::vector<float>> attention_of_rows() const {
    std::vector<std::vector<float>> rows;
    if (!is_watched_) return rows;
    std::size_t sequence = 0;  // of the view, which has those that are not finished
    for (const SentenceBeams& sentence : sentences_) {
      if (sentence.is_finished()) continue;
      const Tensor weights = watcher_.weights(sequence++);  // [H, live hypotheses, source]
      for (Index query = 0; query < weights.dim(1); ++query) {
        rows.push_back(mean_over_heads(weights, query));
        rows.back().pop_back();
      }
    }
    return rows;
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
    const Tensor logits = model_.logits(rows);  // [num_rows, V]
    const std::size_t width = logits.dim(-1);
    parallel_for(end - begin, [&](Index piece) {
      SentenceBeams& sentence = sentences_[begin + piece];
      if (sentence.is_finished()) return;
      const Index row = first_rows[begin + piece], count = sentence.num_live();
      std::vector<LogProbabilities> next;
      for (Index i = row - first; i < row - first + count; ++i) {
        next.push_back(LogProbabilities::of_logits(logits.values().subspan(i * width, width)));
      }
      sentence.advance({next, is_watched_ ? attention.subspan(row, count) : attention});
    });
  }

  void keep_live_rows(const std::vector<Index>& first_rows) {
    std::vector<Index> rows;
    for (std::size_t s = 0; s < sentences_.size(); ++s) {
      for (const Index parent : sentences_[s].parents()) rows.push_back(first_rows[s] + parent);
    }
    state_->reorder(rows);
  }

  const models::TranslationModel& model_;
  AttentionWatcher watcher_;
  bool is_watched_ = false;
  nn::ForwardContext context_;
  std::vector<SentenceBeams> sentences_;
  std::optional<nn::StackCache> state_;
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

}  // namespace

Index default_max_length(Index source_length) {
  constexpr Index beyond_reason = 4096;
  return std::min(2 * source_length + 50, std::max(beyond_reason, source_length));
}

Index max_length(Index source_length, const BeamSearchOptions& options,
                 const models::TransformerConfig& config) {
  const Index wanted =
      options.max_length > 0 ? options.max_length : default_max_length(source_length);
  return std::min(wanted, max_positions(config) - 1);
}

void check_search(const BeamSearchOptions& options, std::span<const std::vector<int>> prefixes,
                  Index num_sources, const models::TransformerConfig& config) {
  check_options(options);
  check_prefixes(prefixes, num_sources, config);
  check_observer(options, num_sources);
}

std::vector<std::vector<Hypothesis>> beam_search(const models::TranslationModel& model,
                                                 const models::PackedIds& sources,
                                                 const BeamSearchOptions& options,
                                                 std::span<const std::vector<int>> prefixes) {
  check_search(options, prefixes, sources.spans.count(), model.config());
  if (sources.spans.count() == 0) return {};
  const NoGrad no_grad;
  return Search(model, sources, options, prefixes).run();
}

}  // namespace heed::infer
