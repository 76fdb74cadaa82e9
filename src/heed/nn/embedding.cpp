#include "heed/nn/embedding.h"

#include <cmath>

#include "heed/ops/embedding.h"

namespace heed::nn {

Embedding::Embedding(Index vocabulary, Index dim, const Initializer& initializer, int frozen)
    : frozen_(frozen) {
  weight_.values = initializer.normal({vocabulary, dim}, 1 / std::sqrt(static_cast<double>(dim)));
}

Tensor Embedding::forward(std::span<const int> ids, float scale) const {
  if (!weight_.values.is_defined()) return ops::embedding(weight_.packed, ids, scale);
  return ops::embedding(weight_.values, ids, scale, frozen_);
}

void Embedding::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_);
}

}  // namespace heed::nn
