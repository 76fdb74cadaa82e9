// Packs sentences end to end, with the special tokens that an encoder-decoder expects.
#pragma once

#include <span>
#include <vector>

#include "heed/models/packed_ids.h"
#include "heed/text/sequence_template.h"
#include "heed/text/special_tokens.h"

namespace heed::infer {

// Encoder input: every sentence, then the end token.
models::PackedIds pack_sources(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens = {});
// Decoder input: the token that it starts with, then the sentence so far.
models::PackedIds pack_targets(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens = {});

// Encoder input that is in the tokenizer's template already, with the types of its parts.
models::PackedIds pack_inputs(std::span<const std::span<const int>> inputs,
                              const text::SequenceTemplate& sequence);

}  // namespace heed::infer
