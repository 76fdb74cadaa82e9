// The row of a weight that has the largest product with a vector: the most likely token, without
// the logits of all the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::ops {

// Compares products of integers, rounded so finely that most of the time one of them is ahead of
// all others by more than rounding can explain.
class ArgmaxProjection {
 public:
  // A copy of weight [O, I]: changing it afterwards does not show. Copies of the object share it.
  explicit ArgmaxProjection(const Tensor& weight);

  static constexpr Index inconclusive = -1;

  // x [N, I] -> for each row of x the number of the one element that is the largest in its row of
  // ops::linear, by more than `gap`; or `unsure`, where integers cannot tell.
  std::vector<Index> largest(const Tensor& x, double margin = 0) const;

 private:
  std::int16_t* panels() const { return reinterpret_cast<std::int16_t*>(panels_.get()); }

  Index out_dim_, in_dim_;
  float scale_;                    // of the weight
  std::shared_ptr<float> panels_;  // of integers
};

}  // namespace heed::ops
