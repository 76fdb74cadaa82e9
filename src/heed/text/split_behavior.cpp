#include "heed/text/split_behavior.h"

#include <algorithm>
#include <array>

namespace heed {

template <>
std::span<const Choice<text::SplitBehavior>> choices() {
  using text::SplitBehavior;
  static constexpr std::array all{Choice{"Removed", SplitBehavior::removed},
                                  Choice{"Isolated", SplitBehavior::isolated},
                                  Choice{"MergedWithPrevious", SplitBehavior::merged_with_previous},
                                  Choice{"MergedWithNext", SplitBehavior::merged_with_next},
                                  Choice{"Contiguous", SplitBehavior::contiguous}};
  return all;
}

}  // namespace heed

namespace heed::text {
namespace {

// Joins a part to the piece before it when joins(its kind, kind of the part before) says so. The
// part before the first one is taken for no match.
template <typename Joins>
void merge_parts(const std::vector<TextPart>& parts, Joins&& joins,
                 std::vector<ByteRange>& pieces) {
  bool was_match = false, is_first = true;
  for (const TextPart& part : parts) {
    if (joins(part.is_match, was_match) && !is_first) {
      pieces.back().end = part.range.end;
    } else {
      pieces.push_back(part.range);
    }
    was_match = part.is_match;
    is_first = false;
  }
}

// A delimiter joins what follows it, unless that is a delimiter too.
void merge_with_next(const std::vector<TextPart>& parts, std::vector<ByteRange>& pieces) {
  const std::size_t first = pieces.size();
  bool was_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->is_match && !was_match && part != parts.rbegin()) {
      pieces.back().begin = part->range.begin;
    } else {
      pieces.push_back(part->range);
    }
    was_match = part->is_match;
  }
  std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end());
}

}  // namespace

void split_parts(const std::vector<TextPart>& parts, SplitBehavior behavior,
                 std::vector<ByteRange>& pieces) {
  switch (behavior) {
    case SplitBehavior::removed:
      for (const TextPart& part : parts) {
        if (!part.is_match) pieces.push_back(part.range);
      }
      return;
    case SplitBehavior::isolated:
      for (const TextPart& part : parts) pieces.push_back(part.range);
      return;
    case SplitBehavior::contiguous:
      return merge_parts(
          parts, [](bool is, bool was) { return is == was; }, pieces);
    case SplitBehavior::merged_with_previous:
      return merge_parts(
          parts, [](bool is, bool was) { return is && !was; }, pieces);
    case SplitBehavior::merged_with_next:
      return merge_with_next(parts, pieces);
  }
}

}  // namespace heed::text
