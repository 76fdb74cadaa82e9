#include "heed/nn/embedding.h"

#include <cmath>

#include "heed/base/random.h"
#include "heed/ops/embedding.h"

namespace heed::nn {

Embedding::Embedding(Index vocabulary, Index dim, Rng& rng)
    : weight_(Tensor::empty({vocabulary, dim})) {
  const double deviation = 1 / std::sqrt(static_cast<double>(dim));
  if (!rng.is_silent()) {
    for (float& w : weight_.values()) w = static_cast<float>(rng.normal() * deviation);
  }
  weight_.require_gradient();
}

Tensor Embedding::forward(std::span<const int> ids, float scale) const {
  if (!weight_.is_defined()) return ops::embedding(packed_, ids, scale);
  return ops::embedding(weight_, ids, scale);
}

void Embedding::visit_parameters(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_, packed_);
}

}  // namespace heed::nn
