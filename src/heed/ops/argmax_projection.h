// Argmax of an output projection: the most likely token, without the logits of all the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::ops {

// Compares products in int16, which is fine enough that most of the time one logit leads all others
// by more than the rounding error.
class ArgmaxProjection {
 public:
  // Copies weight [O, I]: later changes of it have no effect. Copies of the object share it.
  explicit ArgmaxProjection(const Tensor& weight);

  static constexpr Index inconclusive = -1;

  // x [N, I] -> for each row of x the argmax of its row of ops::linear, if it leads by more than
  // `margin`; `inconclusive` where the integers cannot tell.
  std::vector<Index> argmax(const Tensor& x, double margin = 0) const;

 private:
  std::int16_t* panels() const { return reinterpret_cast<std::int16_t*>(panels_.get()); }

  Index out_dim_, in_dim_;
  float scale_;                    // of the weight
  std::shared_ptr<float> panels_;  // of integers
};

}  // namespace heed::ops
