// A quantized weight, row by row, as files hold it.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/core/tensor.h"
#include "heed/kernels/weight_format.h"

namespace heed::ops {

struct QuantizedMatrix {
  WeightFormat format = WeightFormat::f16;  // any but f32
  Index rows = 0, cols = 0;
  std::vector<std::uint8_t> values;  // [rows, weight_row_bytes(format, cols)]
  std::vector<float> scales;         // [rows, weight_row_scales(format, cols)]
};

// weight [O, I] in the nearest numbers of the format. Refuses numbers that are not finite, and for
// f16 those that it cannot hold.
QuantizedMatrix quantize(const Tensor& weight, WeightFormat format);

}  // namespace heed::ops
