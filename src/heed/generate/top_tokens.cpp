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

// Is any of a block above the threshold? Almost never, once the best have been seen; written so
// that a compiler can look at several at a time.
constexpr std::size_t block_size = 32;

bool any_above(const float* block, float threshold) {
  int above = 0;
  for (std::size_t i = 0; i < block_size; ++i) above |= block[i] > threshold ? 1 : 0;
  return above != 0;
}

// Tokens [begin, end).
void scan(std::span<const float> log_probabilities, std::size_t begin, std::size_t end,
          Best& best) {
  while (begin < end) {
    const std::size_t stop = std::min(begin + block_size, end);
    const float* block = log_probabilities.data() + begin;
    if (stop - begin == block_size && !any_above(block, best.threshold())) {
      begin = stop;
      continue;
    }
    for (; begin < stop; ++begin) {
      if (log_probabilities[begin] > best.threshold()) {
        best.add({static_cast<int>(begin), log_probabilities[begin]});
      }
    }
  }
}

}  // namespace

std::vector<TokenScore> top_tokens(std::span<const float> log_probabilities, Index count,
                                   std::span<const int> never) {
  if (count == 0) return {};
  Best best(count);
  std::size_t begin = 0;
  for (const int token : never) {
    scan(log_probabilities, begin, static_cast<std::size_t>(token), best);
    begin = static_cast<std::size_t>(token) + 1;
  }
  scan(log_probabilities, begin, log_probabilities.size(), best);
  return best.take();
}

}  // namespace heed::generate
