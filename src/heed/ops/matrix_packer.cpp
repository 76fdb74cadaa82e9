#include "heed/ops/matrix_packer.h"

#include <algorithm>
#include <cassert>

#include "heed/kernels/gemm.h"
#include "heed/ops/quantized_matrix.h"

namespace heed::ops {
namespace {

constexpr Index numbers_per_chunk = Index{1} << 20;  // enough for all threads

}  // namespace

Index MatrixPacker::chunk_rows() const {
  const Index row = std::max<Index>(1, packed_.in_dim());
  return round_up(quotient_up(numbers_per_chunk, row), 8 * kernels::gemm_panel_width());
}

void MatrixPacker::append(const Tensor& rows) {
  if (packed_.format() != WeightFormat::f32) {
    const QuantizedMatrix quantized = quantize(rows, packed_.format());
    return append(quantized.rows, quantized.values, quantized.scales);
  }
  assert(rows.dim(1) == packed_.in_dim());
  const Index first = num_rows_;
  advance(rows.dim(0));
  packed_.pack(first, rows.dim(0), rows.data());
}

void MatrixPacker::append(Index num_rows, std::span<const std::uint8_t> values,
                          std::span<const float> scales) {
  assert(std::ssize(values) ==
         num_rows * kernels::weight_row_bytes(packed_.format(), packed_.in_dim()));
  assert(std::ssize(scales) ==
         num_rows * kernels::weight_row_scales(packed_.format(), packed_.in_dim()));
  const Index first = num_rows_;
  advance(num_rows);
  packed_.pack(first, num_rows, values.data(), scales.data());
}

void MatrixPacker::advance(Index num_rows) {
  assert(num_rows_ % kernels::gemm_panel_width() == 0);
  num_rows_ += num_rows;
  assert(num_rows_ <= packed_.out_dim());
}

PackedMatrix MatrixPacker::finish() const {
  assert(num_rows_ == packed_.out_dim());
  return packed_;
}

}  // namespace heed::ops
