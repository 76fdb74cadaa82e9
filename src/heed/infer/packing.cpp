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

models::PackedIds pack_inputs(std::span<const std::span<const int>> inputs,
                              const text::SequenceTemplate& sequence) {
  std::vector<std::vector<int>> types;
  std::vector<models::TokenSequence> sequences;
  for (const std::span<const int> ids : inputs) types.push_back(sequence.types(ids));
  for (std::size_t i = 0; i < inputs.size(); ++i) sequences.push_back({inputs[i], types[i]});
  return models::pack(sequences);
}

}  // namespace heed::infer
