// A bias of attention scores by the distance of key and query, learned for every head (T5, MPNet).
#pragma once

#include <vector>

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"
#include "heed/ops/positions.h"

namespace heed::nn {

class RelativePositionBias {
 public:
  RelativePositionBias() = default;
  RelativePositionBias(const ops::RelativeBuckets& options, Index num_heads,
                       const Initializer& initializer);  // 0

  // As ops::AttentionMask takes it: [2 max_distance + 1, H]. Undefined without a table.
  Tensor by_distance() const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
  std::vector<Index> buckets_;  // of each distance
  Tensor weight_;               // [buckets, H]
};

}  // namespace heed::nn
