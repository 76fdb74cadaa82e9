// Lines with masks, as a masked language model reads them.
#pragma once

#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

struct MaskPosition {
  Index place = 0;          // among the ids
  bool begins_word = true;  // at the start of the line or after a space
};

struct MaskedText {
  std::vector<int> ids;  // with the mask token for each mask; without those around a text
  std::vector<MaskPosition> masks;
};

// A line in which every `mask` stands for one piece. A piece that starts a word includes the space
// before it, so no separate space is left before the mask token. The mask of a foreign tokenizer
// may also be written as that tokenizer has it. The tokenizer must have a mask token, and `mask`
// must not be empty.
MaskedText encode_masked_text(const Tokenizer& tokenizer, std::string_view line,
                              std::string_view mask);

}  // namespace heed::text
