#include "heed/generate/top_tokens.h"

#include <algorithm>
#include <limits>

namespace heed::generate {
namespace {

// The best so far, in order. Tokens arrive in rising order, so an equal one belongs behind.
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

}  // namespace

std::vector<TokenScore> top_tokens(std::span<const float> log_probabilities, Index count,
                                   std::span<const int> never) {
  Best best(count);
  if (count == 0) return {};
  const auto scan = [&](std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token) {
      if (log_probabilities[token] > best.threshold()) {
        best.add({static_cast<int>(token), log_probabilities[token]});
      }
    }
  };
  std::size_t begin = 0;
  for (const int token : never) {
    scan(begin, static_cast<std::size_t>(token));
    begin = static_cast<std::size_t>(token) + 1;
  }
  scan(begin, log_probabilities.size());
  return best.take();
}

}  // namespace heed::generate
