// Keys that a query may see by the attention rule.
#pragma once

#include <algorithm>

#include "heed/kernels/attention.h"

namespace heed::kernels {

// The keys that a query may see by its position alone: [first, last).
struct KeyRange {
  Index first, last;

  bool overlaps(const KeyRange& other) const { return first < other.last && other.first < last; }
};

inline KeyRange visible_keys(const AttentionRule& rule, Index query, Index keys) {
  const Index position = query + rule.past;
  Index first = 0, last = keys;
  if (rule.is_causal) last = std::min(last, position + 1);
  if (rule.window > 0) {
    first = std::max(first, position - rule.window + 1);
    last = std::min(last, position + rule.window);
  }
  return {std::min(first, keys), std::max(last, Index{0})};
}

// The keys that any query of [first, last) may see. Both ends move forward with the query.
inline KeyRange visible_keys(const AttentionRule& rule, Index first, Index last, Index keys) {
  return {visible_keys(rule, first, keys).first, visible_keys(rule, last - 1, keys).last};
}

}  // namespace heed::kernels
