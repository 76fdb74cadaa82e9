#include "heed/infer/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "heed/base/error.h"

namespace heed::infer {
namespace {

std::vector<TokenScore> only(int token, float log_probability) {
  if (std::isnan(log_probability)) return {};
  return {{token, log_probability}};
}

}  // namespace

std::vector<int> never_after(const std::vector<int>& ids, const BeamSearchOptions& options,
                             const text::SpecialTokens& tokens) {
  const bool is_own = options.rules == models::SearchRules::heed;
  std::vector<int> never;
  if (options.constraints.has_forbidden()) never = options.constraints.forbidden_after(ids);
  if (is_own) never.insert(never.end(), {tokens.pad, tokens.begin});
  if (!options.allow_unknown) never.push_back(tokens.unknown);
  if ((is_own && ids.empty()) || options.constraints.num_missing(ids) > 0) {
    never.insert(never.end(), tokens.ends.begin(), tokens.ends.end());
  }
  std::erase(never, text::SpecialTokens::none);
  std::ranges::sort(never);
  never.erase(std::unique(never.begin(), never.end()), never.end());
  return never;
}

Beam::Beam(Index size, Index max_length, std::span<const int> prefix,
           const BeamSearchOptions& options, const text::SpecialTokens& tokens)
    : options_(options),
      tokens_(tokens),
      size_(size),
      max_length_(std::max(max_length, std::ssize(prefix))),
      prefix_(prefix.begin(), prefix.end()),
      live_(1) {}

void Beam::advance(const StepScores& step, TokenCounts& taken) {
  std::vector<Candidate> candidates = best_candidates(step, taken);
  check_as(ErrorKind::model, !candidates.empty(),
           "beam search: expected a token with a finite score, found none");
  const double best_score = std::ranges::max_element(candidates, {}, &Candidate::rank)->rank;
  split(candidates, step);
  if (options_.observer) options_.observer->on_step(candidates);
  // Tokens of a group that is finished by this step count for transformers alone.
  if (is_by_transformers()) count_taken(taken);
  if (is_over(best_score)) {
    live_.clear();
    parents_.clear();
  }
  if (!is_by_transformers()) count_taken(taken);
}

void Beam::count_taken(TokenCounts& taken) const {
  if (options_.num_groups == 1) return;
  for (const Growing& hypothesis : live_) ++taken[hypothesis.ids.back()];
}

bool Beam::is_better(const Candidate& a, const Candidate& b) {
  if (a.rank != b.rank) return a.rank > b.rank;
  return std::pair(a.token.token, a.parent) < std::pair(b.token.token, b.parent);
}

// Each of the size_ rows can end once with each end token, so with one of them twice as many
// candidates leave size_ that continue. Tokens that other groups have taken may rank below as many
// that they have not.
std::vector<Beam::Candidate> Beam::best_candidates(const StepScores& step,
                                                   const TokenCounts& taken) const {
  const Index count = std::max<Index>(2, 1 + std::ssize(tokens_.ends)) * size_;
  std::vector<Candidate> candidates;
  for (Index h = 0; h < num_live(); ++h) {
    const Growing& parent = live_[h];
    for (const TokenScore& next :
         next_tokens(parent.ids, step.next[h], count + std::ssize(taken))) {
      double rank = parent.score + next.log_probability;
      if (const auto count_taken = taken.find(next.token); count_taken != taken.end()) {
        rank -= options_.diversity_penalty * static_cast<double>(count_taken->second);
      }
      candidates.push_back({.rank = rank, .token = next, .parent = h});
    }
  }
  if (options_.constraints.has_required()) candidates = in_turns_of_banks(std::move(candidates));
  const auto kept = candidates.begin() + std::min(count, std::ssize(candidates));
  if (!options_.constraints.has_required()) std::ranges::partial_sort(candidates, kept, is_better);
  candidates.erase(kept, candidates.end());
  return candidates;
}

std::vector<TokenScore> Beam::next_tokens(const std::vector<int>& ids,
                                          const LogProbabilities& log_probabilities,
                                          Index count) const {
  if (length_ < std::ssize(prefix_)) {
    return only(prefix_[length_], log_probabilities[prefix_[length_]]);
  }
  if (!is_by_transformers() && length_ == max_length_) {
    return only(tokens_.end(), log_probabilities[tokens_.end()]);
  }
  std::vector<int> never = never_after(ids, options_, tokens_);
  // The last token may be the end, whatever is missing.
  const bool is_last = is_by_transformers() && length_ + 1 == max_length_;
  if (is_last) std::erase_if(never, [&](int token) { return tokens_.is_end(token); });
  std::vector<TokenScore> tokens = top_tokens(log_probabilities, count, never);
  if (options_.constraints.has_required()) add_wanted(tokens, ids, log_probabilities, never);
  return tokens;
}

void Beam::add_wanted(std::vector<TokenScore>& tokens, const std::vector<int>& ids,
                      const LogProbabilities& log_probabilities, std::span<const int> never) const {
  for (const int token : options_.constraints.wanted_after(ids)) {
    const bool is_there = std::ranges::count(tokens, token, &TokenScore::token) > 0;
    const bool is_possible = log_probabilities[token] > -std::numeric_limits<float>::infinity() &&
                             !std::ranges::binary_search(never, token);
    if (!is_there && is_possible) tokens.push_back({token, log_probabilities[token]});
  }
}

std::vector<Beam::Candidate> Beam::in_turns_of_banks(std::vector<Candidate> candidates) const {
  std::ranges::sort(candidates, is_better);
  std::map<Index, std::vector<Candidate>, std::greater<>> banks;  // by tokens of required sequences
  for (const Candidate& candidate : candidates) {
    std::vector<int> ids = live_[candidate.parent].ids;
    if (!tokens_.is_end(candidate.token.token)) ids.push_back(candidate.token.token);
    banks[options_.constraints.num_placed(ids)].push_back(candidate);
  }
  std::vector<Candidate> in_turns;
  for (std::size_t turn = 0; in_turns.size() < candidates.size(); ++turn) {
    for (const auto& [num_placed, bank] : banks) {
      if (turn < bank.size()) in_turns.push_back(bank[turn]);
    }
  }
  return in_turns;
}

// Among the best size_ candidates those that end are finished; the best others stay live.
void Beam::split(std::vector<Candidate>& candidates, const StepScores& step) {
  ++length_;
  std::vector<Growing> live;
  parents_.clear();
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    Candidate& candidate = candidates[rank];
    if (tokens_.is_end(candidate.token.token)) {
      if (static_cast<Index>(rank) >= size_) continue;
      Hypothesis hypothesis = finished(extend(candidate, step));
      const double score = hypothesis.normalised_score;
      if (!keep_finished(std::move(hypothesis))) continue;
      candidate.fate = Candidate::Fate::finished;
      candidate.normalised_score = score;
    } else if (std::ssize(live) < size_) {
      live.push_back(extend(candidate, step));
      parents_.push_back(candidate.parent);
      candidate.fate = Candidate::Fate::live;
    }
  }
  live_ = std::move(live);
}

Beam::Growing Beam::extend(const Candidate& candidate, const StepScores& step) const {
  Growing longer = live_[candidate.parent];
  const TokenScore& token = candidate.token;
  if (!tokens_.is_end(token.token)) longer.ids.push_back(token.token);
  longer.log_probabilities.push_back(token.log_probability);
  longer.score = is_by_transformers() ? candidate.rank : longer.score + token.log_probability;
  if (!step.attention.empty()) {
    const std::vector<float>& weights = step.attention[candidate.parent];
    longer.coverage.resize(weights.size(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) longer.coverage[i] += weights[i];
  }
  return longer;
}

Hypothesis Beam::finished(Growing ended) const {
  const double score = normalise(ended.score, length_) + coverage_score(ended.coverage);
  const Index num_missing = options_.constraints.num_missing(ended.ids);
  return {std::move(ended.ids), ended.score, score, std::move(ended.log_probabilities),
          num_missing};
}

// False: there are size_, and it may not take the place of another.
bool Beam::keep_finished(Hypothesis hypothesis) {
  if (num_finished() >= size_) {
    const auto worst = std::ranges::min_element(finished_, {}, &Hypothesis::normalised_score);
    if (!is_by_transformers() || hypothesis.normalised_score <= worst->normalised_score) {
      return false;
    }
    finished_.erase(worst);
  }
  finished_.push_back(std::move(hypothesis));
  return true;
}

double Beam::normalise(double score, Index length) const {
  return score / std::pow(static_cast<double>(length), options_.length_penalty);
}

// At most 0.
double Beam::coverage_score(const std::vector<double>& coverage) const {
  // A weight so small that it has become 0 would make the sum infinite.
  constexpr double least = std::numeric_limits<float>::min();
  double sum = 0;
  for (const double seen : coverage) sum += std::log(std::clamp(seen, least, 1.0));
  return options_.coverage_penalty * sum;
}

// `best_score`: of the candidates of this step.
bool Beam::is_over(double best_score) {
  if (!is_by_transformers()) {
    return length_ > max_length_ || num_finished() >= size_ || cannot_improve();
  }
  if (is_full_of_better(best_score) || live_.empty()) return true;
  if (length_ < max_length_) return false;
  for (Growing& unfinished : live_) keep_finished(finished(std::move(unfinished)));
  return true;
}

// Greedy search has found what it looks for when one hypothesis is finished.
bool Beam::is_full_of_better(double best_score) const {
  if (num_finished() < size_) return false;
  if (options_.early_stopping == models::EarlyStopping::yes || options_.beam_size == 1) return true;
  const bool may_grow =
      options_.early_stopping == models::EarlyStopping::never && options_.length_penalty > 0;
  const double reachable = normalise(best_score, may_grow ? max_length_ : length_);
  return std::ranges::min(finished_, {}, &Hypothesis::normalised_score).normalised_score >=
         reachable;
}

// Scores only fall, so the best reachable score is the best live one at the most favourable length.
bool Beam::cannot_improve() const {
  const Index n_best = std::min(options_.n_best, size_);
  if (num_finished() < n_best || live_.empty()) return live_.empty();
  const Index favourable_length = options_.length_penalty > 0 ? max_length_ + 1 : length_ + 1;
  const double best = std::ranges::max_element(live_, {}, &Growing::score)->score;
  const double reachable = normalise(best, favourable_length);
  const auto at_least = [&](const Hypothesis& h) { return h.normalised_score >= reachable; };
  return std::ranges::count_if(finished_, at_least) >= n_best;
}

SentenceBeams::SentenceBeams(Index max_length, std::span<const int> prefix,
                             const BeamSearchOptions& options, const text::SpecialTokens& tokens)
    : options_(options),
      groups_(options.num_groups,
              Beam(options.beam_size / options.num_groups, max_length, prefix, options, tokens)) {}

Index SentenceBeams::num_live() const {
  Index count = 0;
  for (const Beam& group : groups_) count += group.num_live();
  return count;
}

std::vector<std::vector<int>> SentenceBeams::live_ids() const {
  std::vector<std::vector<int>> all;
  for (const Beam& group : groups_) {
    for (Index h = 0; h < group.num_live(); ++h) all.push_back(group.ids(h));
  }
  return all;
}

void SentenceBeams::advance(const StepScores& step) {
  TokenCounts taken;
  parents_.clear();
  Index first = 0;
  for (Beam& group : groups_) {
    const Index count = group.num_live();
    if (count == 0) continue;
    const bool has_attention = !step.attention.empty();
    group.advance({step.next.subspan(first, count),
                   has_attention ? step.attention.subspan(first, count) : step.attention},
                  taken);
    for (const Index parent : group.parents()) parents_.push_back(first + parent);
    first += count;
  }
}

std::vector<Hypothesis> SentenceBeams::take_best() {
  std::vector<Hypothesis> best;
  for (Beam& group : groups_) {
    for (Hypothesis& hypothesis : group.take_finished()) {
      const bool is_new = options_.rules == models::SearchRules::transformers ||
                          std::ranges::count(best, hypothesis.ids, &Hypothesis::ids) == 0;
      if (is_new) best.push_back(std::move(hypothesis));
    }
  }
  std::ranges::stable_sort(best, [](const Hypothesis& a, const Hypothesis& b) {
    return std::pair(a.num_missing, -a.normalised_score) <
           std::pair(b.num_missing, -b.normalised_score);
  });
  if (std::ssize(best) > options_.n_best) best.resize(options_.n_best);
  return best;
}

}  // namespace heed::infer
