// What if: attention layers that work otherwise for one pass, while the model stays as it is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/core/spans.h"
#include "heed/ops/attention.h"

namespace heed::nn {

// Layers are named as watchers know them: decoder.2.cross_attention. Queries and keys are counted
// from the beginning of their sequence, cached or not, and in every sequence of a batch; those that
// a sequence does not have change nothing.
struct AttentionChanges {
  // What a head found is multiplied by `scale`, before the output matrix. 0 switches it off, 1
  // changes no bit.
  struct HeadScale {
    std::string layer;
    Index head = 0;
    float scale = 1;
  };
  // The query does not see the key: its weight is 0 and the others share it.
  struct ForbiddenLink {
    std::string layer;
    std::optional<Index> head = std::nullopt;  // all heads when there is none
    Index query = 0;
    Index key = 0;
  };
  // Added to what a head found for one query, [K], after the head's scale.
  struct Nudge {
    std::string layer;
    Index head = 0;
    Index query = 0;
    std::vector<float> added;
  };

  std::vector<HeadScale> scales;
  std::vector<ForbiddenLink> links;
  std::vector<Nudge> nudges;
  std::optional<ops::Similarity> similarity;  // in place of every layer's own
};

// The queries of one call of an attention layer.
struct ChangedQueries {
  std::string_view layer;
  Index num_heads = 1;
  Spans spans;                // of the rows
  std::vector<Index> places;  // of each row of the spans, in its sequence
};

// The mask without the layer's forbidden links, for keys of these lengths. The mask itself when the
// layer has none.
ops::AttentionMask without_forbidden_links(const ops::AttentionMask& mask,
                                           const AttentionChanges& changes,
                                           const ChangedQueries& queries,
                                           std::span<const Index> key_lengths);

// What the heads found, [N, H * K], scaled and nudged; itself when nothing changes the layer.
Tensor with_changed_heads(const Tensor& mixed, const AttentionChanges& changes,
                          const ChangedQueries& queries);

}  // namespace heed::nn
