// Sampling: the next token at random, by its probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/infer/decoding.h"

namespace heed::infer {

struct TokenLogit {
  int token = 0;
  float logit = 0;
};

// Lowers the logits of the tokens in `past`: positive ones are divided by the penalty, negative
// ones multiplied (Keskar and others 2019). Each token once, however often it occurs. Returns the
// logits of these tokens before, by rising token.
std::vector<TokenLogit> penalise_repetition(std::span<float> logits, std::span<const int> past,
                                            double penalty);

// Minus infinity for every token that would complete an n-gram of `length` tokens of the source
// right after `past`.
void forbid_ngrams_of(std::span<const int> source, std::span<float> logits,
                      std::span<const int> past, Index length);
// The same where the source is `past`: no n-gram occurs twice.
void forbid_repeated_ngrams(std::span<float> logits, std::span<const int> past, Index length);

// The tokens that are no text and no end of one: pad, unknown and begin.
std::vector<int> tokens_without_text(const text::SpecialTokens& tokens);
// Minus infinity for these.
void suppress_special_tokens(std::span<float> logits, const text::SpecialTokens& tokens = {});

struct TokenProbability {
  int token = 0;
  double probability = 0;
};

// The distribution after temperature, top_k, top_p and min_p: most likely first, equal ones by
// token, with probabilities that sum to 1. Tokens of minus infinity or NaN are left out; refuses
// logits that leave none: ErrorKind::model, or ErrorKind::failed where all are minus infinity. At
// least one token always stays.
std::vector<TokenProbability> candidates(std::span<const float> logits,
                                         const SamplingOptions& options);

// Inverse transform sampling: the candidate whose interval of the cumulative probability holds
// `uniform`, which is in [0, 1).
int pick(std::span<const TokenProbability> candidates, double uniform);

// Draws tokens. The draw at a position depends on the seed, the number of the text and the position
// alone: not on what else is in the batch, nor on earlier draws.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, std::uint64_t seed);

  // `past`: all tokens before, the prompt's included; its size is the position.
  //
  // Applies repetition_penalty and no_repeat_ngram. Returns what penalise_repetition does; of
  // tokens that can still be drawn no other logit changes.
  std::vector<TokenLogit> penalise(std::span<float> logits, std::span<const int> past) const;
  int draw(std::span<const float> logits, std::size_t position, std::uint64_t text) const;
  // penalise, then draw.
  int next(std::span<float> logits, std::span<const int> past, std::uint64_t text) const;

 private:
  SamplingOptions options_;
  std::uint64_t seed_;
};

}  // namespace heed::infer
