// Sorted tables of code points.
#pragma once

#include <algorithm>
#include <span>

namespace heed::text {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// The range of a sorted table that holds the code point; null when none does. A range has a first
// and a last code point.
template <typename Range>
const Range* find_range(char32_t c, std::span<const Range> ranges) {
  const auto range = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return range != ranges.end() && range->first <= c ? &*range : nullptr;
}

inline bool is_in(char32_t c, std::span<const CodePointRange> ranges) {
  return find_range(c, ranges) != nullptr;
}

}  // namespace heed::text
