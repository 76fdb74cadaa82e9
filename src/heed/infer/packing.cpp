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

models::PackedIds pack_inputs(std::span<const std::span<const int>> inputs,
                              const text::SequenceTemplate& sequence) {
  std::vector<std::vector<int>> types;
  std::vector<models::TokenSequence> sequences;
  for (const std::span<const int> ids : inputs) types.push_back(sequence.types(ids));
  for (std::size_t i = 0; i < inputs.size(); ++i) sequences.push_back({inputs[i], types[i]});
  return models::pack(sequences);
}

}  // namespace heed::infer
