// A hook into attention layers: what an intervention needs to change one forward pass while the
// model stays as it is.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/core/spans.h"
#include "heed/ops/attention.h"

namespace heed::nn {

// One call of an attention layer. Layers are named as watchers know them:
// decoder.2.cross_attention.
struct AttentionCall {
  std::string_view layer;
  Index num_heads = 1;
  Spans queries;                   // of the rows
  std::vector<Index> positions;    // of each row, in its sequence, cached tokens included
  std::vector<Index> key_lengths;  // of each sequence
};

// Every function has a default that leaves the pass as it is, to the bit.
class AttentionHook {
 public:
  virtual ~AttentionHook() = default;
  // The similarity to use in place of the layer's own.
  virtual std::optional<ops::Similarity> similarity() const { return std::nullopt; }
  // The mask to use in place of the layer's own.
  virtual ops::AttentionMask mask(const AttentionCall&, const ops::AttentionMask& mask) const {
    return mask;
  }
  // The heads' outputs [N, H * K] that the output matrix gets.
  virtual Tensor heads(const AttentionCall&, const Tensor& heads) const { return heads; }
};

}  // namespace heed::nn
