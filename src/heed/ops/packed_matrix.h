// A weight in the packed layout of the GEMM kernels, in f32 or quantized, for many products with
// it.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/base/weight_format.h"
#include "heed/core/tensor.h"

namespace heed::ops {

struct QuantizedMatrix;

// A copy: later changes of the weight have no effect. Copies of the object share it.
class PackedMatrix {
 public:
  PackedMatrix() = default;  // undefined
  // [O, I], in the nearest numbers of the format.
  explicit PackedMatrix(const Tensor& weight, WeightFormat format = WeightFormat::f32);
  explicit PackedMatrix(const QuantizedMatrix& weight);

  bool is_defined() const { return panels_ != nullptr; }
  WeightFormat format() const { return format_; }
  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }

  void copy_row(Index row, float* to) const;  // I floats
  Tensor dequantize() const;                  // all of them, [O, I]

 private:
  friend class MatrixPacker;
  friend Tensor linear(const Tensor&, const PackedMatrix&, const Tensor&);

  PackedMatrix(WeightFormat format, Index out_dim, Index in_dim);
  // Rows from `first` on, which begins a panel.
  void pack(Index first, Index count, const float* rows);  // of f32
  void pack(Index first, Index count, const std::uint8_t* values, const float* scales);
  std::uint8_t* bytes() const { return reinterpret_cast<std::uint8_t*>(panels_.get()); }

  WeightFormat format_ = WeightFormat::f32;
  Index in_dim_ = 0, out_dim_ = 0;
  std::shared_ptr<float> panels_;  // bytes, unless they are floats
};

}  // namespace heed::ops
