#include "heed/metrics/ngrams.h"

#include <algorithm>
#include <bit>

namespace heed::metrics {
namespace {

// For n-grams of the hypothesis that the reference lacks: longer ones cannot match either.
constexpr std::uint32_t no_ngram = ~std::uint32_t{0};

// An n-gram is the (n-1)-gram that begins at the same place, and the symbol that comes after it.
std::uint64_t key_of(std::uint32_t shorter, std::uint32_t last_symbol) {
  return (static_cast<std::uint64_t>(shorter) << 32) | last_symbol;
}

std::int64_t num_ngrams(std::size_t length, int order) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(length) - order + 1);
}

}  // namespace

NgramMatcher::NgramMatcher(int max_order) : counts_(static_cast<std::size_t>(max_order)) {}

std::span<const NgramCounts> NgramMatcher::match(std::span<const std::uint32_t> hypothesis,
                                                 std::span<const std::uint32_t> reference) {
  resize_table(reference.size());
  hypothesis_ngrams_.assign(hypothesis.size(), 0);
  reference_ngrams_.assign(reference.size(), 0);
  for (int order = 1; order <= static_cast<int>(counts_.size()); ++order) {
    std::fill(table_.begin(), table_.end(), Slot{});
    count_reference(reference, order);
    counts_[static_cast<std::size_t>(order) - 1] = {
        .hypothesis = num_ngrams(hypothesis.size(), order),
        .reference = num_ngrams(reference.size(), order),
        .matched = count_matches(hypothesis, order)};
  }
  return counts_;
}

// At most half full, so that a search ends soon.
void NgramMatcher::resize_table(std::size_t num_ngrams) {
  table_.resize(std::bit_ceil(2 * num_ngrams + 2));
}

// The slot that holds the key, or the free one where it belongs.
std::uint32_t NgramMatcher::find_slot(std::uint64_t key) const {
  const std::size_t mask = table_.size() - 1;
  const std::uint64_t mixed = key * 0x9e3779b97f4a7c15u;
  std::size_t at = (mixed ^ (mixed >> 32)) & mask;
  while (table_[at].is_used && table_[at].key != key) at = (at + 1) & mask;
  return static_cast<std::uint32_t>(at);
}

void NgramMatcher::count_reference(std::span<const std::uint32_t> reference, int order) {
  for (std::int64_t i = 0; i < num_ngrams(reference.size(), order); ++i) {
    const std::uint64_t key = key_of(reference_ngrams_[i], reference[i + order - 1]);
    const std::uint32_t slot = find_slot(key);
    table_[slot].key = key;
    table_[slot].is_used = true;
    ++table_[slot].unmatched;
    reference_ngrams_[i] = slot;
  }
}

std::int64_t NgramMatcher::count_matches(std::span<const std::uint32_t> hypothesis, int order) {
  std::int64_t matched = 0;
  for (std::int64_t i = 0; i < num_ngrams(hypothesis.size(), order); ++i) {
    if (hypothesis_ngrams_[i] == no_ngram) continue;
    const std::uint32_t slot = find_slot(key_of(hypothesis_ngrams_[i], hypothesis[i + order - 1]));
    hypothesis_ngrams_[i] = table_[slot].is_used ? slot : no_ngram;
    if (table_[slot].unmatched == 0) continue;
    --table_[slot].unmatched;
    ++matched;
  }
  return matched;
}

}  // namespace heed::metrics
