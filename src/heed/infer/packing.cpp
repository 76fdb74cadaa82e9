#include "heed/infer/packing.h"

#include <optional>

namespace heed::infer {
namespace {

std::optional<int> if_any(int token) {
  return token == text::SpecialTokens::none ? std::nullopt : std::optional(token);
}

}  // namespace

models::PackedIds pack_sources(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens) {
  return models::pack(sentences, {.append = if_any(tokens.end())});
}

models::PackedIds pack_targets(std::span<const std::vector<int>> sentences,
                               const text::SpecialTokens& tokens) {
  return models::pack(sentences, {.prepend = if_any(tokens.decoder_start)});
}

}  // namespace heed::infer
