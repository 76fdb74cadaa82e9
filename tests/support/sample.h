// Inputs for tests: the same numbers on every machine and in every run.
#pragma once

#include "heed/base/random.h"
#include "heed/core/tensor.h"

namespace heed {

// Normally distributed numbers; another seed gives others.
inline Tensor sample(const Shape& shape, std::uint64_t seed = 1) {
  Rng rng(random_key(2017, seed, shape.size()));
  return Tensor::randn(shape, rng);
}

}  // namespace heed
