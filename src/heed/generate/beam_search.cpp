#include "heed/generate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/top_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {
namespace {

constexpr int end_token = text::Tokenizer::end;

// One token more for one of a sentence's live hypotheses.
struct Candidate {
  double score = 0;
  int token = 0;
  Index parent = 0;  // number among the sentence's live hypotheses
};

bool is_better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return std::pair(a.token, a.parent) < std::pair(b.token, b.parent);
}

// The search for one sentence: hypotheses that grow, and those that have ended.
class Sentence {
 public:
  Sentence(Index max_length, const BeamSearchOptions& options)
      : options_(options), max_length_(max_length), live_(1) {}

  Index num_live() const { return static_cast<Index>(live_.size()); }
  bool is_finished() const { return live_.empty(); }
  int last_token(Index hypothesis) const {
    return live_[hypothesis].ids.empty() ? end_token : live_[hypothesis].ids.back();
  }

  // log_probabilities(h): the vocabulary's, after live hypothesis h. Afterwards parents()[h] tells
  // which of the former hypotheses live hypothesis h continues.
  template <typename LogProbabilities>
  void advance(LogProbabilities&& log_probabilities) {
    const std::vector<Candidate> candidates = best_candidates(log_probabilities);
    check_as(ErrorKind::model, !candidates.empty(),
             "beam search: expected finite scores from the model, found none");
    split(candidates);
    if (length_ > max_length_ || num_finished() >= options_.beam_size || cannot_improve()) {
      live_.clear();
      parents_.clear();
    }
  }
  const std::vector<Index>& parents() const { return parents_; }

  std::vector<Hypothesis> take_best() {
    std::ranges::stable_sort(finished_, std::greater{}, &Hypothesis::normalised_score);
    if (num_finished() > options_.n_best) finished_.resize(options_.n_best);
    return std::move(finished_);
  }

 private:
  Index num_finished() const { return static_cast<Index>(finished_.size()); }

  // Each of the beam_size rows can end once, so twice as many leave beam_size that go on.
  template <typename LogProbabilities>
  std::vector<Candidate> best_candidates(LogProbabilities& log_probabilities) const {
    const std::size_t count = 2 * options_.beam_size;
    std::vector<Candidate> candidates;
    for (Index h = 0; h < num_live(); ++h) {
      for (const TokenScore& next : next_tokens(log_probabilities(h), static_cast<Index>(count))) {
        candidates.push_back({live_[h].score + next.log_probability, next.token, h});
      }
    }
    const std::size_t kept = std::min(count, candidates.size());
    std::ranges::partial_sort(candidates, candidates.begin() + kept, is_better);
    candidates.resize(kept);
    return candidates;
  }

  std::vector<TokenScore> next_tokens(const LogProbabilities& log_probabilities,
                                      Index count) const {
    if (length_ == max_length_) return only_end(log_probabilities[end_token]);
    std::vector<int> never{text::Tokenizer::pad, text::Tokenizer::begin};
    if (!options_.allow_unknown) never.push_back(text::Tokenizer::unknown);
    if (length_ == 0) never.push_back(end_token);
    std::ranges::sort(never);
    return top_tokens(log_probabilities, count, never);
  }

  static std::vector<TokenScore> only_end(float log_probability) {
    if (std::isnan(log_probability)) return {};
    return {{end_token, log_probability}};
  }

  // Among the best beam_size candidates those that end are finished; the best others live on.
  void split(const std::vector<Candidate>& candidates) {
    ++length_;
    std::vector<Hypothesis> live;
    parents_.clear();
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      const Candidate& candidate = candidates[rank];
      if (candidate.token == end_token) {
        if (static_cast<Index>(rank) < options_.beam_size) finish(candidate);
      } else if (static_cast<Index>(live.size()) < options_.beam_size) {
        live.push_back({live_[candidate.parent].ids, candidate.score});
        live.back().ids.push_back(candidate.token);
        parents_.push_back(candidate.parent);
      }
    }
    live_ = std::move(live);
  }

  void finish(const Candidate& candidate) {
    if (num_finished() == options_.beam_size) return;
    finished_.push_back(
        {live_[candidate.parent].ids, candidate.score, normalised(candidate.score, length_)});
  }

  double normalised(double score, Index length) const {
    return score / std::pow(static_cast<double>(length), options_.length_penalty);
  }

  // Scores only fall, so the best that may still come is the best live score at the kindest length.
  bool cannot_improve() const {
    if (num_finished() < options_.n_best || live_.empty()) return live_.empty();
    const Index kindest = options_.length_penalty > 0 ? max_length_ + 1 : length_ + 1;
    const double reachable = normalised(live_.front().score, kindest);
    const auto at_least = [&](const Hypothesis& h) { return h.normalised_score >= reachable; };
    return std::ranges::count_if(finished_, at_least) >= options_.n_best;
  }

  BeamSearchOptions options_;
  Index max_length_;
  Index length_ = 0;  // tokens of every live hypothesis
  std::vector<Hypothesis> live_;
  std::vector<Index> parents_;
  std::vector<Hypothesis> finished_;
};

// What the options say, as far as the model knows positions: the last one is for the end token.
Index max_length(Index source_length, const BeamSearchOptions& options,
                 const models::TransformerConfig& config) {
  const Index wanted =
      options.max_length > 0 ? options.max_length : default_max_length(source_length);
  const bool is_bounded = config.positions == models::Positions::learned;
  return is_bounded ? std::min(wanted, config.max_positions - 1) : wanted;
}

// 30 rows of 10,000 logits are 1.2 MB: they stay in the caches from the product to the choice, and
// are whole register blocks for a beam of 5.
constexpr Index rows_at_once = 30;

// All sentences of a batch, step by step. Rows of the decoder's state are the live hypotheses of
// the sentences that are not finished, in the order of the sentences.
class Search {
 public:
  Search(const models::TranslationModel& model, const models::PackedIds& sources,
         const BeamSearchOptions& options)
      : model_(model), context_(nn::ForwardContext::inference()) {
    for (const Span& span : sources.spans) {
      sentences_.emplace_back(max_length(span.length, options, model.config()), options);
    }
    const std::vector<Index> one_each(sentences_.size(), 1);
    state_.emplace(model_.start(model_.encode(sources, context_), one_each));
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (state_->num_rows() > 0) step();
    std::vector<std::vector<Hypothesis>> best;
    for (Sentence& sentence : sentences_) best.push_back(sentence.take_best());
    return best;
  }

 private:
  void step() {
    std::vector<int> tokens;
    std::vector<Index> first_rows;  // of each sentence
    for (const Sentence& sentence : sentences_) {
      first_rows.push_back(static_cast<Index>(tokens.size()));
      for (Index h = 0; h < sentence.num_live(); ++h) tokens.push_back(sentence.last_token(h));
    }
    const Tensor decoded = model_.advance(tokens, *state_, context_);  // [rows, D]
    const Index num_sentences = static_cast<Index>(sentences_.size());
    for (Index begin = 0; begin < num_sentences;) {
      Index rows = 0, end = begin;
      do {
        rows += sentences_[end++].num_live();
      } while (end < num_sentences && rows + sentences_[end].num_live() <= rows_at_once);
      choose_tokens(decoded, begin, end, first_rows);
      begin = end;
    }
    keep_live_rows(first_rows);
  }

  // The next tokens of sentences [begin, end). Only their rows of the logits exist at one time.
  void choose_tokens(const Tensor& decoded, Index begin, Index end,
                     const std::vector<Index>& first_rows) {
    const Index first = first_rows[begin];
    const Index num_rows = first_rows[end - 1] + sentences_[end - 1].num_live() - first;
    if (num_rows == 0) return;
    const Index dim = decoded.dim(-1);
    const Tensor rows =
        Tensor::from(decoded.values().subspan(first * dim, num_rows * dim), {num_rows, dim});
    const Tensor logits = model_.logits(rows);  // [num_rows, V]
    const std::size_t width = logits.dim(-1);
    parallel_for(end - begin, [&](Index piece) {
      const Index s = begin + piece;
      if (sentences_[s].is_finished()) return;
      sentences_[s].advance([&](Index hypothesis) {
        return LogProbabilities::of_logits(
            logits.values().subspan((first_rows[s] + hypothesis - first) * width, width));
      });
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
  nn::ForwardContext context_;
  std::vector<Sentence> sentences_;
  std::optional<nn::DecoderState> state_;
};

}  // namespace

Index default_max_length(Index source_length) {
  constexpr Index beyond_reason = 4096;
  return std::min(2 * source_length + 50, std::max(beyond_reason, source_length));
}

std::vector<std::vector<Hypothesis>> beam_search(const models::TranslationModel& model,
                                                 const models::PackedIds& sources,
                                                 const BeamSearchOptions& options) {
  check_as(ErrorKind::usage, options.beam_size >= 1,
           "beam search: expected a beam of at least 1, got ", options.beam_size);
  check_as(ErrorKind::usage, options.n_best >= 1 && options.n_best <= options.beam_size,
           "beam search: expected n-best from 1 to the beam's ", options.beam_size, ", got ",
           options.n_best);
  if (sources.spans.count() == 0) return {};
  const NoRecording no_recording;
  return Search(model, sources, options).run();
}

}  // namespace heed::generate
