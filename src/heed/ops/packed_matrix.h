// A weight in the order that matrix products want, for many products with the same one.
#pragma once

#include <memory>

#include "heed/core/tensor.h"

namespace heed::ops {

// A copy: changing the weight afterwards does not show. Copies of the object share it.
class PackedMatrix {
 public:
  PackedMatrix() = default;                     // undefined
  explicit PackedMatrix(const Tensor& weight);  // [O, I]

  bool is_defined() const { return panels_ != nullptr; }
  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }
  const float* panels() const { return panels_.get(); }

 private:
  Index in_dim_ = 0, out_dim_ = 0;
  std::shared_ptr<float> panels_;
};

// x [N, I], bias [O] or undefined -> x W^T + b, [N, O]: the same bits as ops::linear of the weight
// itself. Nothing is recorded: refuses an x that needs a gradient while recording is on.
Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias);

}  // namespace heed::ops
