#include "heed/generate/packing.h"

#include "heed/text/tokenizer.h"

namespace heed::generate {
namespace {

Spans spans_with_end(std::span<const std::vector<int>> sentences) {
  std::vector<Index> lengths;
  for (const std::vector<int>& ids : sentences)
    lengths.push_back(static_cast<Index>(ids.size()) + 1);
  return Spans::of_lengths(lengths);
}

}  // namespace

models::PackedIds pack_sources(std::span<const std::vector<int>> sentences) {
  models::PackedIds packed{{}, spans_with_end(sentences)};
  for (const std::vector<int>& ids : sentences) {
    packed.ids.insert(packed.ids.end(), ids.begin(), ids.end());
    packed.ids.push_back(text::Tokenizer::end);
  }
  return packed;
}

models::PackedIds pack_targets(std::span<const std::vector<int>> sentences) {
  models::PackedIds packed{{}, spans_with_end(sentences)};
  for (const std::vector<int>& ids : sentences) {
    packed.ids.push_back(text::Tokenizer::end);
    packed.ids.insert(packed.ids.end(), ids.begin(), ids.end());
  }
  return packed;
}

}  // namespace heed::generate
