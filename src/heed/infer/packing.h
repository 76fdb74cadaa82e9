// Packs sentences end to end, with the end token where the model expects it.
#pragma once

#include <span>
#include <vector>

#include "heed/models/packed_ids.h"

namespace heed::infer {

// Encoder input: every sentence, then the end token.
models::PackedIds pack_sources(std::span<const std::vector<int>> sentences);
// Decoder input: the end token, then the sentence so far.
models::PackedIds pack_targets(std::span<const std::vector<int>> sentences);

}  // namespace heed::infer
