// Packs a weight some rows at a time, so that it never stands in memory twice.
#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/packed_matrix.h"

namespace heed::ops {

class MatrixPacker {
 public:
  MatrixPacker(WeightFormat format, Index out_dim, Index in_dim)
      : packed_(format, out_dim, in_dim) {}

  // How many rows all calls but the last must bring.
  Index chunk_rows() const;

  void append(const Tensor& rows);  // [N, I], in the nearest numbers of the format
  // N rows that are quantized in the format, as QuantizedMatrix holds them, at any address.
  void append(Index num_rows, std::span<const std::uint8_t> values, std::span<const float> scales);

  PackedMatrix finish() const;  // after the last row

 private:
  void advance(Index num_rows);

  PackedMatrix packed_;
  Index num_rows_ = 0;  // packed so far
};

}  // namespace heed::ops
