// Packs sentences end to end, with the special tokens that the model expects.
#pragma once

#include <span>
#include <vector>

#include "heed/models/packed_ids.h"
#include "heed/text/special_tokens.h"

namespace heed::infer {

// Encoder input: every sentence, then the end token.
models::PackedIds pack_sources(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens = {});
// Decoder input: the token that starts it, then the sentence so far.
models::PackedIds pack_targets(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens = {});

}  // namespace heed::infer
