#include "heed/ops/packed_matrix.h"

#include <cassert>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/quantized_gemm.h"
#include "heed/kernels/quantized_pack.h"
#include "heed/ops/parallel_gemm.h"
#include "heed/ops/quantized_matrix.h"

namespace heed::ops {
namespace {

constexpr Index rows_per_piece = 64;

Index packed_floats(WeightFormat format, Index out_dim, Index in_dim) {
  if (format == WeightFormat::f32) return kernels::gemm_packed_size(in_dim, out_dim);
  const Index bytes = kernels::quantized_packed_bytes(format, in_dim, out_dim);
  return (bytes + sizeof(float) - 1) / sizeof(float);
}

}  // namespace

PackedMatrix::PackedMatrix(WeightFormat format, Index out_dim, Index in_dim)
    : format_(format),
      in_dim_(in_dim),
      out_dim_(out_dim),
      panels_(allocate_floats(packed_floats(format, out_dim, in_dim))) {}

PackedMatrix::PackedMatrix(const Tensor& weight, WeightFormat format) {
  if (format != WeightFormat::f32) {
    *this = PackedMatrix(quantize(weight, format));
    return;
  }
  check(weight.rank() == 2, "packed matrix: expected a weight [O, I], got ", weight.shape());
  *this = PackedMatrix(format, weight.dim(0), weight.dim(1));
  pack(0, out_dim_, weight.data());
}

PackedMatrix::PackedMatrix(const QuantizedMatrix& weight)
    : PackedMatrix(weight.format, weight.rows, weight.cols) {
  assert(std::ssize(weight.values) == out_dim_ * kernels::weight_row_bytes(format_, in_dim_));
  assert(std::ssize(weight.scales) == out_dim_ * kernels::weight_row_scales(format_, in_dim_));
  pack(0, out_dim_, weight.values.data(), weight.scales.data());
}

void PackedMatrix::pack(Index first, Index count, const float* rows) {
  parallel_pack(panels_.get() + first * in_dim_, {rows, in_dim_, /*transposed=*/true}, count,
                in_dim_);
}

void PackedMatrix::pack(Index first, Index count, const std::uint8_t* values, const float* scales) {
  const Index row_bytes = kernels::weight_row_bytes(format_, in_dim_);
  const Index row_scales = kernels::weight_row_scales(format_, in_dim_);
  parallel_ranges(count, 8 * kernels::gemm_panel_width(), [&](Index begin, Index end) {
    std::uint8_t* to = bytes() + kernels::quantized_packed_bytes(format_, in_dim_, first + begin);
    kernels::pack_quantized(to, format_, values + begin * row_bytes, scales + begin * row_scales,
                            in_dim_, end - begin);
  });
}

void PackedMatrix::copy_row(Index row, float* to) const {
  assert(row >= 0 && row < out_dim_);
  if (format_ != WeightFormat::f32) {
    return kernels::dequantize_row(to, {format_, bytes()}, row, in_dim_);
  }
  const Index width = kernels::gemm_panel_width();
  const float* from = panels_.get() + row / width * width * in_dim_ + row % width;
  for (Index i = 0; i < in_dim_; ++i) to[i] = from[i * width];
}

Tensor PackedMatrix::dequantize() const {
  Tensor weight = Tensor::empty({out_dim_, in_dim_});
  parallel_ranges(out_dim_, rows_per_piece, [&, to = weight.data()](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) copy_row(row, to + row * in_dim_);
  });
  return weight;
}

}  // namespace heed::ops
