#include "heed/generate/packing.h"

#include "heed/text/tokenizer.h"

namespace heed::generate {

models::PackedIds pack_sources(std::span<const std::vector<int>> sentences) {
  return models::pack(sentences, {.behind = text::Tokenizer::end});
}

models::PackedIds pack_targets(std::span<const std::vector<int>> sentences) {
  return models::pack(sentences, {.before = text::Tokenizer::end});
}

}  // namespace heed::generate
