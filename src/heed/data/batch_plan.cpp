#include "heed/data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "heed/base/random.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of initial weights and dropout.
constexpr std::uint64_t shuffle_place = 0x73687566;

std::vector<Index> identity_order(std::size_t count) {
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

// Fisher-Yates with our own random numbers: std::shuffle differs between standard libraries.
std::vector<Index> shuffled_order(std::size_t count, std::uint64_t seed, Index epoch) {
  std::vector<Index> order = identity_order(count);
  Rng rng(random_key(seed, static_cast<std::uint64_t>(epoch), shuffle_place));
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Index length_of(const PairSize& item) { return std::max(item.source, item.target); }

}  // namespace

Index max_item_tokens(std::span<const PairSize> sizes, Index epoch, Index curriculum) {
  if (epoch >= curriculum || sizes.empty()) return std::numeric_limits<Index>::max();
  constexpr double first_share = 0.2;
  const double share = first_share + (1 - first_share) * static_cast<double>(epoch) /
                                         static_cast<double>(curriculum);
  std::vector<Index> lengths;
  for (const PairSize& item : sizes) lengths.push_back(length_of(item));
  const auto last = lengths.begin() + static_cast<Index>(share * (std::ssize(lengths) - 1));
  std::ranges::nth_element(lengths, last);
  return *last;
}

BatchPlan BatchPlan::shuffled(std::span<const PairSize> sizes, Index batch_tokens,
                              std::uint64_t seed, Index epoch, Index max_item_tokens) {
  std::vector<Index> order = shuffled_order(sizes.size(), seed, epoch);
  std::erase_if(order, [&](Index item) { return length_of(sizes[item]) > max_item_tokens; });
  return BatchPlan(std::move(order), sizes, batch_tokens);
}

BatchPlan BatchPlan::in_order(std::span<const PairSize> sizes, Index batch_tokens) {
  return BatchPlan(identity_order(sizes.size()), sizes, batch_tokens);
}

BatchPlan::BatchPlan(std::vector<Index> order, std::span<const PairSize> sizes, Index batch_tokens)
    : order_(std::move(order)) {
  PairSize filled;
  for (Index i = 0; i < std::ssize(order_); ++i) {
    const PairSize& item = sizes[order_[i]];
    const bool fits =
        std::max(filled.source + item.source, filled.target + item.target) <= batch_tokens;
    if (!fits && i > begin_.back()) {
      begin_.push_back(i);
      filled = {};
    }
    filled.source += item.source;
    filled.target += item.target;
  }
  if (!order_.empty()) begin_.push_back(std::ssize(order_));
}

}  // namespace heed::data
