// Which sentences make which batch: a function of the sizes, the budget, the seed and the epoch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/translation_corpus.h"

namespace heed::data {

// The batches of one pass over a corpus. Batches are packed, never padded, so sentences need no
// sorting by length: they are shuffled and fill the batches in that order.
class BatchPlan {
 public:
  // Every pair exactly once, in an order that depends on (seed, epoch) only. The larger of the
  // source and target tokens of a batch stays within `batch_tokens`; refuses a pair beyond it.
  static BatchPlan shuffled(std::span<const PairSize> sizes, Index batch_tokens, std::uint64_t seed,
                            Index epoch);
  // The same in the order of the corpus, for validation.
  static BatchPlan in_order(std::span<const PairSize> sizes, Index batch_tokens);

  Index size() const { return static_cast<Index>(begin_.size()) - 1; }
  std::span<const Index> batch(Index i) const {
    return std::span(order_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

 private:
  BatchPlan(std::vector<Index> order, std::span<const PairSize> sizes, Index batch_tokens);

  std::vector<Index> order_;
  std::vector<Index> begin_{0};
};

}  // namespace heed::data
