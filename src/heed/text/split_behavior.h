// Splitting of a text at delimiters, and what becomes of these.
#pragma once

#include <span>
#include <vector>

#include "heed/base/choices.h"
#include "heed/text/text_pattern.h"

namespace heed::text {

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

// Parts of a text, of which the matches are the delimiters, to pieces: appends them to `pieces`.
void split_parts(const std::vector<TextPart>& parts, SplitBehavior behavior,
                 std::vector<ByteRange>& pieces);

}  // namespace heed::text

namespace heed {
template <>
std::span<const Choice<text::SplitBehavior>> choices();  // Removed, Isolated, ...
}  // namespace heed
