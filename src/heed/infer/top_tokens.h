// The most likely next tokens of one hypothesis.
#pragma once

#include <span>
#include <vector>

#include "heed/infer/decoding.h"
#include "heed/kernels/log_probabilities.h"

namespace heed::infer {

// The log-probabilities of the vocabulary, as logits and their logsumexp: each is computed when it
// is asked for.
class LogProbabilities {
 public:
  // log_softmax of the logits, with the same bits as ops::log_softmax. Refuses (ErrorKind::model)
  // logits without a softmax: NaN or infinity among them, or minus infinity alone.
  static LogProbabilities of_logits(std::span<const float> logits);
  // Log-probabilities as they are.
  static LogProbabilities of_values(std::span<const float> values) { return {values, {}}; }

  float operator[](Index token) const { return of_logit(logits_[token]); }
  // That of another logit: what a token had before its logit was changed.
  float of_logit(float logit) const { return logit - shift_.max - shift_.logsumexp; }
  Index size() const { return std::ssize(logits_); }
  // The first token in [begin, end) above the threshold; `end` if there is none.
  Index first_above(Index begin, Index end, float threshold) const {
    return kernels::first_above(logits_.data(), begin, end, shift_, threshold);
  }

 private:
  LogProbabilities(std::span<const float> logits, const kernels::LogSoftmaxShift& shift)
      : logits_(logits), shift_(shift) {}

  std::span<const float> logits_;
  kernels::LogSoftmaxShift shift_;
};

// The `count` largest of the vocabulary's log-probabilities, largest first, equal ones by token.
// Leaves out the tokens of `never` (sorted), and what is minus infinity or NaN, so there may be
// fewer.
std::vector<TokenScore> top_tokens(const LogProbabilities& log_probabilities, Index count,
                                   std::span<const int> never);

}  // namespace heed::infer
