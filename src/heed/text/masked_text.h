// Lines with gaps, as a masked model reads them.
#pragma once

#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

struct MaskPosition {
  Index place = 0;          // among the ids
  bool begins_word = true;  // whether a space, or nothing, stands before it
};

struct MaskedText {
  std::vector<int> ids;  // the mask in place of each gap; without begin and end
  std::vector<MaskPosition> masks;
};

// A line in which every `gap` stands for one piece. The mask stands where a piece would: a piece
// that begins a word has the space before it in it, so that no space is left alone before a mask.
// The tokenizer has a mask, and the gap is not empty.
MaskedText encode_masked_text(const Tokenizer& tokenizer, std::string_view line,
                              std::string_view mask);

}  // namespace heed::text
