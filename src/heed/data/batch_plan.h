// Batches with a maximum number of tokens: which items go together. The one batcher of training and
// inference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/translation_corpus.h"

namespace heed::data {

// The batches of one pass over a corpus, every item in at most one. The larger of the source and
// target tokens of a batch stays within `batch_tokens`; an item beyond that is a batch of its own.
// Batches are packed, never padded, so items need no sorting by length.
class BatchPlan {
 public:
  BatchPlan() = default;  // no batches
  // In an order that depends on (seed, epoch) only. Items with more than `max_item_tokens` on one
  // side are left out.
  static BatchPlan shuffled(std::span<const PairSize> sizes, Index batch_tokens, std::uint64_t seed,
                            Index epoch, Index max_item_tokens = std::numeric_limits<Index>::max());
  // In the order of the corpus: neighbours go together.
  static BatchPlan in_order(std::span<const PairSize> sizes, Index batch_tokens);

  Index size() const { return std::ssize(begin_) - 1; }
  std::span<const Index> batch(Index i) const {
    return std::span(order_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

 private:
  BatchPlan(std::vector<Index> order, std::span<const PairSize> sizes, Index batch_tokens);

  std::vector<Index> order_;
  std::vector<Index> begin_{0};
};

// Curriculum learning by length: epoch e of the first `curriculum` ones has the shortest share of
// the items, which grows from a fifth to nearly all of them; of items with equal lengths all or
// none. Returns the length of the longest that take part.
Index max_item_tokens(std::span<const PairSize> sizes, Index epoch, Index curriculum);

struct EpochPlanOptions {
  Index batch_tokens = 4096;
  std::uint64_t seed = 1;
  Index curriculum = 0;  // epochs; see max_item_tokens
};

// The shuffled plan of one epoch at a time: made when it is first asked for, and kept until another
// epoch's is.
class EpochPlan {
 public:
  explicit EpochPlan(const EpochPlanOptions& options) : options_(options) {}

  // `sizes` are those of this epoch.
  const BatchPlan& of_epoch(Index epoch, std::span<const PairSize> sizes) {
    if (epoch_ != epoch) {
      plan_ = BatchPlan::shuffled(sizes, options_.batch_tokens, options_.seed, epoch,
                                  max_item_tokens(sizes, epoch, options_.curriculum));
    }
    epoch_ = epoch;
    return plan_;
  }

 private:
  EpochPlanOptions options_;
  BatchPlan plan_;
  Index epoch_ = -1;
};

// Batches of neighbours that all have the same size, `per_batch` of them in each but the last.
struct UniformBatches {
  Index num_items = 0;
  Index per_batch = 1;

  Index size() const { return (num_items + per_batch - 1) / per_batch; }
  // The items of batch i: from begin(i), before end(i).
  Index begin(Index i) const { return i * per_batch; }
  Index end(Index i) const { return std::min(begin(i) + per_batch, num_items); }
};

// Batches of neighbouring items, in order: as many as stay within `batch_tokens`, at least one.
// num_tokens(item) is how many tokens an item takes.
template <typename Item, typename NumTokens>
std::vector<std::span<const Item>> batches_in_order(std::span<const Item> items, Index batch_tokens,
                                                    NumTokens&& num_tokens) {
  std::vector<PairSize> sizes;
  for (const Item& item : items) sizes.push_back({.source = num_tokens(item), .target = 0});
  const auto plan = BatchPlan::in_order(sizes, batch_tokens);
  std::vector<std::span<const Item>> batches;
  for (Index i = 0; i < plan.size(); ++i) {
    const std::span<const Index> numbers = plan.batch(i);
    batches.push_back(items.subspan(static_cast<std::size_t>(numbers.front()), numbers.size()));
  }
  return batches;
}

}  // namespace heed::data
