// A loss that guides one attention head to given alignments.
#pragma once

#include <optional>
#include <vector>

#include "heed/ops/attention.h"

namespace heed::ops {

struct AlignmentLossOptions {
  Index num_heads = 1;
  Index num_key_value_heads = 0;    // 0: as num_heads
  Index head = 0;                   // the one that is guided
  std::optional<float> scale = {};  // of the dot products; 1/sqrt(K), if not given
};

// query [N, H * K], key [M, G * K] -> [], the sum over all queries with links of the cross-entropy
// between the head's softmax over all keys of the sequence and equal shares for the linked ones
// (Garg and others 2019). Queries without links do not count.
Tensor alignment_loss(const Packed& query, const Packed& key, std::vector<AttentionLink> links,
                      const AlignmentLossOptions& options);

}  // namespace heed::ops
