// Hooks into attention layers: interventions and guided alignment enter one forward pass here,
// while the model stays as it is.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/core/spans.h"
#include "heed/ops/attention.h"
#include "heed/ops/positions.h"

namespace heed::nn {

// One call of an attention layer. Layers have the names that watchers know:
// decoder.2.cross_attention.
struct AttentionCall {
  std::string_view layer;
  Index num_heads = 1;
  Spans queries;                            // the rows of each sequence
  Spans keys;                               // of each sequence, unless they are cached
  std::span<const Index> cached_keys = {};  // otherwise how many each sequence has
  std::span<const Index> past = {};         // tokens of each sequence before its queries
  std::span<const Index> positions = {};    // of each row; consecutive after the past when empty

  Index num_keys(Index sequence) const {
    return cached_keys.empty() ? keys[sequence].length : cached_keys[sequence];
  }
  // The position of each row in its sequence, cached tokens included.
  std::vector<Index> row_positions() const {
    if (positions.empty()) return ops::token_positions(queries, past);
    return {positions.begin(), positions.end()};
  }
};

// Every function has a default that leaves the pass as it is, to the bit.
class AttentionHook {
 public:
  virtual ~AttentionHook() = default;
  // The similarity to use in place of the layer's own.
  virtual std::optional<ops::Similarity> similarity() const { return std::nullopt; }
  // Sees queries [N, H * K] and keys [M, G * K], except those of a paged cache, before the scores.
  virtual void see(const AttentionCall&, const Packed& queries, const Packed& keys,
                   const ops::AttentionOptions&) const {
    static_cast<void>(queries), static_cast<void>(keys);
  }
  // The mask to use in place of the layer's own.
  virtual ops::AttentionMask mask(const AttentionCall&, const ops::AttentionMask& mask) const {
    return mask;
  }
  // The heads' outputs [N, H * K] that the output matrix gets.
  virtual Tensor heads(const AttentionCall&, const Tensor& heads) const { return heads; }
};

}  // namespace heed::nn
