#include "heed/ops/matrix_packer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/ops/quantized_matrix.h"
#include "support/same_bits.h"
#include "support/sample.h"

namespace heed {
namespace {

TEST(MatrixPacker, SomeRowsAtATimeGiveTheBitsOfAllAtOnce) {
  const Tensor weight = sample({1400, 2100});
  for (const WeightFormat format : {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16,
                                    WeightFormat::int8, WeightFormat::int4}) {
    ops::MatrixPacker packer(format, 1400, 2100);
    const Index chunk = packer.chunk_rows();
    ASSERT_LT(chunk, 700);  // at least three of them
    for (Index first = 0; first < 1400; first += chunk) {
      packer.append(rows_of(weight, first, std::min(chunk, 1400 - first)));
    }
    const Tensor expected = ops::PackedMatrix(weight, format).dequantize();
    EXPECT_TRUE(same_bits(packer.finish().dequantize(), expected));
  }
}

TEST(MatrixPacker, TakesRowsThatAreQuantized) {
  const ops::QuantizedMatrix quantized = ops::quantize(sample({5, 70}), WeightFormat::int4);
  ops::MatrixPacker packer(WeightFormat::int4, 5, 70);
  packer.append(5, quantized.values, quantized.scales);
  const Tensor expected = ops::PackedMatrix(quantized).dequantize();
  EXPECT_TRUE(same_bits(packer.finish().dequantize(), expected));
}

}  // namespace
}  // namespace heed
