// Choosing the next token at random, by its probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed::infer {

// Applied in this order. The defaults leave the model's own distribution as it is.
struct SamplingOptions {
  double repetition_penalty = 1;  // above 1: tokens that have been there become less likely
  Index no_repeat_ngram = 0;      // above 0: no run of so many tokens comes twice
  double temperature = 1;         // divides the logits; 0: always the most likely token
  Index top_k = 0;                // only the so many most likely; 0: all
  double top_p = 1;  // only the most likely that together reach this share of what is left
  double min_p = 0;  // only those with at least this share of the most likely one's probability
};

// Refuses (ErrorKind::usage) numbers that mean nothing, in the names of the command's options.
void validate(const SamplingOptions& options);

struct TokenLogit {
  int token = 0;
  float logit = 0;
};

// Logits of tokens in `past` fall: positive ones are divided by the penalty, negative ones
// multiplied (Keskar and others 2019). Each token once, however often it was there. Returns what
// fell as it was before, by rising token.
std::vector<TokenLogit> penalise_repetition(std::span<float> logits, std::span<const int> past,
                                            double penalty);

// Minus infinity for every token that would end a run of `length` tokens that `past` holds already.
void forbid_repeated_runs(std::span<float> logits, std::span<const int> past, Index length);

struct TokenProbability {
  int token = 0;
  double probability = 0;
};

// What temperature, top_k, top_p and min_p leave of the distribution: most likely first, equal ones
// by token, with probabilities that sum to 1. Tokens of minus infinity or NaN are left out; refuses
// (ErrorKind::failed) logits that leave none. At least one token always stays.
std::vector<TokenProbability> candidates(std::span<const float> logits,
                                         const SamplingOptions& options);

// The candidate at this place, in [0, 1), of their probabilities side by side.
int pick(std::span<const TokenProbability> candidates, double place);

// Draws tokens of one text. The draw at a position depends on the seed, the number of the text and
// the position alone: not on what else is in the batch, nor on how often was asked.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, std::uint64_t seed);

  // `past`: all tokens before, the prompt's included; its size is the position.
  //
  // What has been there becomes less likely, or impossible. Returns what penalise_repetition does;
  // of tokens that can still be drawn no other logit changes.
  std::vector<TokenLogit> penalise(std::span<float> logits, std::span<const int> past) const;
  int draw(std::span<const float> logits, std::size_t position, std::uint64_t text) const;
  // Both, one after the other.
  int next(std::span<float> logits, std::span<const int> past, std::uint64_t text) const;

 private:
  SamplingOptions options_;
  std::uint64_t seed_;
};

}  // namespace heed::infer
