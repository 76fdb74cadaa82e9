// Argmax of an output projection: the most likely token, without the logits of all the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::ops {

struct ArgmaxProjectionOptions {
  Tensor bias = {};  // [O], or undefined
  float scale = 1;   // of x, before the product
};

// Compares products in int16, which is fine enough that most of the time one logit leads all others
// by more than the rounding error.
class ArgmaxProjection {
 public:
  // Copies weight [O, I]: later changes of it have no effect. Copies of the object share it.
  explicit ArgmaxProjection(const Tensor& weight, const ArgmaxProjectionOptions& options = {});
  // One that is always inconclusive, for logits that are no products.
  static ArgmaxProjection never(Index in_dim);

  static constexpr Index inconclusive = -1;

  // x [N, I] -> for each row of scale * x the argmax of its row of ops::linear, if it leads by more
  // than `margin`; `inconclusive` where the integers cannot tell.
  std::vector<Index> argmax(const Tensor& x, double margin = 0) const;

 private:
  std::int16_t* panels() const { return reinterpret_cast<std::int16_t*>(panels_.get()); }

  ArgmaxProjection() = default;
  // [N, I] -> scale * x and, if there is a bias, a column of 1 for it.
  Tensor scaled_input(const Tensor& x) const;
  bool has_bias() const { return row_dim_ > in_dim_; }

  Index out_dim_ = 0, in_dim_ = 0;
  Index row_dim_ = 0;  // of the weight beside the bias
  float input_scale_ = 1;
  float scale_ = 0;                // of the weight
  std::shared_ptr<float> panels_;  // of integers
};

}  // namespace heed::ops
