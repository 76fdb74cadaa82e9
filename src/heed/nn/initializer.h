// The first values of parameters: random, left for a file to fill, or none at all.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/core/tensor.h"

namespace heed {
class Rng;
}

namespace heed::nn {

class Initializer {
 public:
  // Draws from `rng`, which stays alive. Implicit, so that a layer can be built from a random
  // number generator.
  Initializer(Rng& rng);
  static Initializer random(std::uint64_t key);  // draws from a generator of its own
  // Memory without random values, for parameters that are filled next.
  static Initializer uninitialized() { return Initializer(false); }
  // Meta tensors: shapes without memory, for counting and naming parameters.
  static Initializer meta() { return Initializer(true); }

  // Parameters, which require a gradient.
  Tensor uniform(const Shape& shape, double bound) const;     // in [-bound, bound)
  Tensor normal(const Shape& shape, double deviation) const;  // with mean 0
  Tensor constant(const Shape& shape, float value) const;     // set unless it is a meta tensor

 private:
  explicit Initializer(bool is_meta) : is_meta_(is_meta) {}
  template <typename Draw>
  Tensor fill(const Shape& shape, Draw&& draw) const;

  std::shared_ptr<Rng> rng_;  // null: nothing is drawn. Copies share it
  bool is_meta_ = false;
};

}  // namespace heed::nn
