#include "heed/infer/packing.h"

#include "heed/text/tokenizer.h"

namespace heed::infer {

models::PackedIds pack_sources(std::span<const std::vector<int>> sentences) {
  return models::pack(sentences, {.append = text::Tokenizer::end});
}

models::PackedIds pack_targets(std::span<const std::vector<int>> sentences) {
  return models::pack(sentences, {.prepend = text::Tokenizer::end});
}

}  // namespace heed::infer
