#include "heed/infer/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "heed/base/error.h"

namespace heed::infer {
namespace {

constexpr int end_token = text::Tokenizer::end;

std::vector<TokenScore> only(int token, float log_probability) {
  if (std::isnan(log_probability)) return {};
  return {{token, log_probability}};
}

}  // namespace

std::vector<int> never_after(const std::vector<int>& ids, const BeamSearchOptions& options) {
  std::vector<int> never;
  if (options.constraints.has_forbidden()) never = options.constraints.forbidden_after(ids);
  never.insert(never.end(), {text::Tokenizer::pad, text::Tokenizer::begin});
  if (!options.allow_unknown) never.push_back(text::Tokenizer::unknown);
  if (ids.empty() || options.constraints.num_missing(ids) > 0) never.push_back(end_token);
  std::ranges::sort(never);
  never.erase(std::unique(never.begin(), never.end()), never.end());
  return never;
}

Beam::Beam(Index size, Index max_length, std::span<const int> prefix,
           const BeamSearchOptions& options)
    : options_(options),
      size_(size),
      max_length_(std::max(max_length, std::ssize(prefix))),
      prefix_(prefix.begin(), prefix.end()),
      live_(1) {}

int Beam::last_token(Index hypothesis) const {
  return live_[hypothesis].ids.empty() ? end_token : live_[hypothesis].ids.back();
}

void Beam::advance(const StepScores& step, TokenCounts& taken) {
  std::vector<Candidate> candidates = best_candidates(step, taken);
  check_as(ErrorKind::model, !candidates.empty(),
           "beam search: expected a token with a finite score, found none");
  split(candidates, step);
  if (options_.observer) options_.observer->on_step(candidates);
  if (length_ > max_length_ || num_finished() >= size_ || cannot_improve()) {
    live_.clear();
    parents_.clear();
  }
  if (options_.num_groups == 1) return;
  for (const Growing& hypothesis : live_) ++taken[hypothesis.ids.back()];
}

bool Beam::is_better(const Candidate& a, const Candidate& b) {
  if (a.rank != b.rank) return a.rank > b.rank;
  return std::pair(a.token.token, a.parent) < std::pair(b.token.token, b.parent);
}

// Each of the size_ rows can end once, so twice as many leave size_ that continue. Tokens that
// other groups have taken may rank below as many that they have not.
std::vector<Beam::Candidate> Beam::best_candidates(const StepScores& step,
                                                   const TokenCounts& taken) const {
  const Index count = 2 * size_;
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
  if (length_ == max_length_) return only(end_token, log_probabilities[end_token]);
  const std::vector<int> never = never_after(ids, options_);
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
    if (candidate.token.token != end_token) ids.push_back(candidate.token.token);
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
    if (candidate.token.token == end_token) {
      if (static_cast<Index>(rank) < size_ && num_finished() < size_) {
        finish(extend(candidate, step));
        candidate.fate = Candidate::Fate::finished;
        candidate.normalised_score = finished_.back().normalised_score;
      }
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
  if (token.token != end_token) longer.ids.push_back(token.token);
  longer.log_probabilities.push_back(token.log_probability);
  longer.score += token.log_probability;
  if (!step.attention.empty()) {
    const std::vector<float>& weights = step.attention[candidate.parent];
    longer.coverage.resize(weights.size(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) longer.coverage[i] += weights[i];
  }
  return longer;
}

void Beam::finish(Growing ended) {
  const double score = normalise(ended.score, length_) + coverage_score(ended.coverage);
  const Index num_missing = options_.constraints.num_missing(ended.ids);
  finished_.push_back(
      {std::move(ended.ids), ended.score, score, std::move(ended.log_probabilities), num_missing});
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
                             const BeamSearchOptions& options)
    : options_(options),
      groups_(options.num_groups,
              Beam(options.beam_size / options.num_groups, max_length, prefix, options)) {}

Index SentenceBeams::num_live() const {
  Index count = 0;
  for (const Beam& group : groups_) count += group.num_live();
  return count;
}

std::vector<int> SentenceBeams::last_tokens() const {
  std::vector<int> tokens;
  for (const Beam& group : groups_) {
    for (Index h = 0; h < group.num_live(); ++h) tokens.push_back(group.last_token(h));
  }
  return tokens;
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
      const bool is_new = std::ranges::count(best, hypothesis.ids, &Hypothesis::ids) == 0;
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
