#include "heed/nn/initializer.h"

#include "heed/base/random.h"

namespace heed::nn {

Initializer::Initializer(Rng& rng) : rng_(std::shared_ptr<void>(), &rng) {}

Initializer Initializer::random(std::uint64_t key) {
  Initializer initializer = uninitialized();
  initializer.rng_ = std::make_shared<Rng>(key);
  return initializer;
}

template <typename Draw>
Tensor Initializer::fill(const Shape& shape, Draw&& draw) const {
  Tensor parameter = is_meta_ ? Tensor::meta(shape) : Tensor::empty(shape);
  if (rng_) {
    for (float& value : parameter.values()) value = static_cast<float>(draw());
  }
  parameter.require_gradient();
  return parameter;
}

Tensor Initializer::uniform(const Shape& shape, double bound) const {
  return fill(shape, [&] { return (2 * rng_->uniform() - 1) * bound; });
}

Tensor Initializer::normal(const Shape& shape, double deviation) const {
  return fill(shape, [&] { return rng_->normal() * deviation; });
}

Tensor Initializer::constant(const Shape& shape, float value) const {
  Tensor parameter = is_meta_ ? Tensor::meta(shape) : Tensor::full(shape, value);
  parameter.require_gradient();
  return parameter;
}

}  // namespace heed::nn
