#include "heed/nn/relative_position_bias.h"

#include "heed/ops/embedding.h"

namespace heed::nn {

RelativePositionBias::RelativePositionBias(const ops::RelativeBuckets& options, Index num_heads,
                                           const Initializer& initializer)
    : buckets_(ops::buckets_by_distance(options)),
      weight_(initializer.constant({options.num_buckets, num_heads}, 0)) {}

Tensor RelativePositionBias::by_distance() const {
  return weight_.is_defined() ? ops::gather_rows(weight_, buckets_) : Tensor();
}

void RelativePositionBias::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_);
}

}  // namespace heed::nn
