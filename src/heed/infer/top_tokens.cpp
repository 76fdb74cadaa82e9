#include "heed/infer/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"

namespace heed::infer {
namespace {

// The best so far, in order. Tokens arrive in rising order, so an equal one goes after.
class Best {
 public:
  explicit Best(Index count) : count_(static_cast<std::size_t>(count)) {
    scores_.reserve(count_ + 1);
  }

  float threshold() const { return threshold_; }

  void add(const TokenScore& score) {
    const auto place = std::ranges::upper_bound(scores_, score.log_probability, std::greater{},
                                                &TokenScore::log_probability);
    scores_.insert(place, score);
    if (scores_.size() > count_) scores_.pop_back();
    if (scores_.size() == count_) threshold_ = scores_.back().log_probability;
  }

  std::vector<TokenScore> take() { return std::move(scores_); }

 private:
  std::size_t count_;
  float threshold_ = -std::numeric_limits<float>::infinity();
  std::vector<TokenScore> scores_;
};

// Tokens [begin, end).
void scan(const LogProbabilities& log_probabilities, Index begin, Index end, Best& best) {
  for (Index token = begin;
       (token = log_probabilities.first_above(token, end, best.threshold())) < end; ++token) {
    best.add({static_cast<int>(token), log_probabilities[token]});
  }
}

}  // namespace

LogProbabilities LogProbabilities::of_logits(std::span<const float> logits) {
  const LogProbabilities all(logits, kernels::log_softmax_shift(logits.data(), std::ssize(logits)));
  // A sum with one NaN or infinite term in it is none either.
  check_as(
      ErrorKind::model, std::isfinite(all.shift_.max + all.shift_.logsumexp),
      "model: expected finite logits, found NaN or infinity (weights are damaged, or too large "
      "for this input)");
  return all;
}

std::vector<TokenScore> top_tokens(const LogProbabilities& log_probabilities, Index count,
                                   std::span<const int> never) {
  if (count == 0) return {};
  Best best(std::min(count, log_probabilities.size()));
  Index begin = 0;
  for (const int token : never) {
    scan(log_probabilities, begin, token, best);
    begin = token + 1;
  }
  scan(log_probabilities, begin, log_probabilities.size(), best);
  return best.take();
}

}  // namespace heed::infer
