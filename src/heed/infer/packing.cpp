#include "heed/infer/packing.h"

namespace heed::infer {

models::PackedIds pack_sources(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens) {
  return models::pack(sentences, {.append = tokens.end()});
}

models::PackedIds pack_targets(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens) {
  return models::pack(sentences, {.prepend = tokens.decoder_start});
}

}  // namespace heed::infer
