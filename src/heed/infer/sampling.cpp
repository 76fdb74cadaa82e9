#include "heed/infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::infer {
namespace {

bool comes_before(const TokenProbability& a, const TokenProbability& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

// e^((logit - largest) / temperature) for every token that can be drawn, in no order.
std::vector<TokenProbability> weights_of(std::span<const float> logits, double temperature) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const float logit : logits) {
    largest = std::max(largest, std::isnan(logit) ? largest : logit);
  }
  std::vector<TokenProbability> weights;
  weights.reserve(logits.size());
  for (std::size_t token = 0; token < logits.size(); ++token) {
    const double weight = std::exp((static_cast<double>(logits[token]) - largest) / temperature);
    if (weight > 0) weights.push_back({static_cast<int>(token), weight});
  }
  if (!weights.empty() && std::isfinite(largest)) return weights;
  const bool are_forbidden =
      std::ranges::count(logits, -std::numeric_limits<float>::infinity()) == std::ssize(logits);
  check(!are_forbidden, "sampling: expected a token that may come next, found none among ",
        logits.size());
  fail(ErrorKind::model, "sampling: expected a finite logit, found none among ", logits.size());
}

// Keeps the most likely ones, sorted, and drops the others. `is_enough` gets the number kept so far
// and the sum of their probabilities.
template <typename IsEnough>
void keep_first(std::vector<TokenProbability>& weights, IsEnough is_enough) {
  // A heap gives the few that are kept without sorting the vocabulary.
  const auto comes_after = [](const auto& a, const auto& b) { return comes_before(b, a); };
  std::ranges::make_heap(weights, comes_after);
  auto end = weights.end();
  double sum = 0;
  Index count = 0;
  do {
    std::pop_heap(weights.begin(), end, comes_after);
    --end;
    sum += end->probability;
    ++count;
  } while (end != weights.begin() && !is_enough(count, sum));
  weights.erase(weights.begin(), end);
  std::ranges::reverse(weights);
}

double sum_of(const std::vector<TokenProbability>& weights) {
  double sum = 0;
  for (const TokenProbability& weight : weights) sum += weight.probability;
  return sum;
}

}  // namespace

void validate(const SamplingOptions& options) {
  const auto check_option = [](bool is_good, const char* name, const char* expected, auto value) {
    check_as(ErrorKind::usage, is_good, "`", name, "`: expected ", expected, ", found ", value);
  };
  const double penalty = options.repetition_penalty, temperature = options.temperature;
  check_option(penalty > 0 && std::isfinite(penalty), "repetition_penalty", "a number above 0",
               penalty);
  check_option(options.no_repeat_ngram >= 0, "no_repeat_ngram", "a number of at least 0",
               options.no_repeat_ngram);
  check_option(temperature >= 0 && std::isfinite(temperature), "temperature",
               "a number of at least 0", temperature);
  check_option(options.top_k >= 0, "top_k", "a number of at least 0", options.top_k);
  check_option(options.top_p > 0 && options.top_p <= 1, "top_p", "a number above 0, up to 1",
               options.top_p);
  check_option(options.min_p >= 0 && options.min_p <= 1, "min_p", "a number from 0 to 1",
               options.min_p);
}

SamplingOptions as_greedy(const SamplingOptions& options) {
  return {.repetition_penalty = options.repetition_penalty,
          .no_repeat_ngram = options.no_repeat_ngram,
          .temperature = 0};
}

std::vector<TokenLogit> penalise_repetition(std::span<float> logits, std::span<const int> past,
                                            double penalty) {
  std::vector<TokenLogit> before;
  if (penalty == 1) return before;
  std::vector<int> seen(past.begin(), past.end());
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const int token : seen) {
    float& logit = logits[static_cast<std::size_t>(token)];
    before.push_back({token, logit});
    logit = static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
  }
  return before;
}

void forbid_ngrams_of(std::span<const int> source, std::span<float> logits,
                      std::span<const int> past, Index length) {
  const auto before = static_cast<std::size_t>(std::max<Index>(length - 1, 0));
  if (length <= 0 || past.size() < before) return;
  const auto end_of_past = past.last(before);
  for (std::size_t begin = 0; begin + before < source.size(); ++begin) {
    if (std::ranges::equal(source.subspan(begin, before), end_of_past)) {
      logits[static_cast<std::size_t>(source[begin + before])] =
          -std::numeric_limits<float>::infinity();
    }
  }
}

void forbid_repeated_ngrams(std::span<float> logits, std::span<const int> past, Index length) {
  forbid_ngrams_of(past, logits, past, length);
}

std::vector<int> tokens_without_text(const text::SpecialTokens& tokens) {
  std::vector<int> ids{tokens.pad, tokens.unknown, tokens.begin};
  std::erase_if(ids, [&](int id) { return id < 0 || tokens.is_end(id); });
  return ids;
}

void suppress_special_tokens(std::span<float> logits, const text::SpecialTokens& tokens) {
  for (const int token : tokens_without_text(tokens)) {
    logits[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
}

std::vector<TokenProbability> candidates(std::span<const float> logits,
                                         const SamplingOptions& options) {
  const bool is_greedy = options.temperature == 0;
  std::vector<TokenProbability> kept = weights_of(logits, is_greedy ? 1 : options.temperature);
  const Index most_tokens = is_greedy ? 1 : (options.top_k == 0 ? std::ssize(kept) : options.top_k);
  if (most_tokens < std::ssize(kept)) {
    keep_first(kept, [&](Index count, double) { return count >= most_tokens; });
  }
  if (options.top_p < 1) {
    const double enough = options.top_p * sum_of(kept);
    keep_first(kept, [&](Index, double sum) { return sum >= enough; });
  }
  std::ranges::sort(kept, comes_before);
  if (options.min_p > 0) {
    const double least = options.min_p * kept.front().probability;
    std::erase_if(kept, [&](const TokenProbability& weight) { return weight.probability < least; });
  }
  const double sum = sum_of(kept);
  for (TokenProbability& weight : kept) weight.probability /= sum;
  return kept;
}

int pick(std::span<const TokenProbability> candidates, double uniform) {
  double end = 0;
  for (const TokenProbability& candidate : candidates) {
    end += candidate.probability;
    if (uniform < end) return candidate.token;
  }
  return candidates.back().token;  // rounding left the sum a little below 1
}

Sampler::Sampler(const SamplingOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed) {
  validate(options);
}

std::vector<TokenLogit> Sampler::penalise(std::span<float> logits,
                                          std::span<const int> past) const {
  std::vector<TokenLogit> before = penalise_repetition(logits, past, options_.repetition_penalty);
  forbid_repeated_ngrams(logits, past, options_.no_repeat_ngram);
  return before;
}

int Sampler::draw(std::span<const float> logits, std::size_t position, std::uint64_t text) const {
  Rng rng(random_key(seed_, text, position));
  return pick(candidates(logits, options_), rng.uniform());
}

int Sampler::next(std::span<float> logits, std::span<const int> past, std::uint64_t text) const {
  penalise(logits, past);
  return draw(logits, past.size(), text);
}

}  // namespace heed::infer
