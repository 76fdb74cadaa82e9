#include "heed/ops/quantized_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/packed_matrix.h"
#include "support/same_bits.h"
#include "support/sample.h"

namespace heed {
namespace {

constexpr WeightFormat quantized_formats[] = {WeightFormat::f16, WeightFormat::bf16,
                                              WeightFormat::int8, WeightFormat::int4};

double square_error(const Tensor& weight, const Tensor& other) {
  double sum = 0;
  for (Index i = 0; i < weight.size(); ++i) {
    const double error = double{weight.values()[i]} - other.values()[i];
    sum += error * error;
  }
  return sum;
}

double square_sum(const Tensor& x) { return square_error(x, Tensor::zeros(x.shape())); }

TEST(QuantizedMatrix, HalvesAreTheNearestOnes) {
  const Tensor weight = sample({5, 33});
  const Tensor f16 = ops::PackedMatrix(weight, WeightFormat::f16).dequantize();
  const Tensor bf16 = ops::PackedMatrix(weight, WeightFormat::bf16).dequantize();
  for (Index i = 0; i < weight.size(); ++i) {
    const float x = weight.values()[i];
    EXPECT_EQ(f16.values()[i], float16_to_float(float_to_float16(x)));
    EXPECT_EQ(bf16.values()[i], bfloat16_to_float(float_to_bfloat16(x)));
  }
}

TEST(QuantizedMatrix, Int8IsWithinHalfAStepAndKeepsTheLargestOfEachRow) {
  const Tensor weight = sample({7, 50});
  const Tensor found = ops::PackedMatrix(weight, WeightFormat::int8).dequantize();
  for (Index row = 0; row < 7; ++row) {
    const Tensor exact = rows_of(weight, row, 1), rounded = rows_of(found, row, 1);
    const auto size = [](float x, float y) { return std::abs(x) < std::abs(y); };
    const float largest = *std::ranges::max_element(exact.values(), size);
    const float step = std::abs(largest) / 127;
    for (Index i = 0; i < 50; ++i) {
      EXPECT_NEAR(rounded.values()[i], exact.values()[i], 0.5001f * step);
    }
    EXPECT_FLOAT_EQ(*std::ranges::max_element(rounded.values(), size), largest);
  }
}

TEST(QuantizedMatrix, Int4TakesASmallShareOfTheSquaresAway) {
  const Tensor weight = sample({40, 70});  // the last group of a row has 6 numbers
  const Tensor found = ops::PackedMatrix(weight, WeightFormat::int4).dequantize();
  EXPECT_LT(square_error(weight, found), 0.008 * square_sum(weight));
}

TEST(QuantizedMatrix, Int4HoldsGroupsThatFitItExactly) {
  Tensor weight = Tensor::empty({2, 64});
  for (Index i = 0; i < weight.size(); ++i) {
    const auto number = static_cast<float>(i % 16 - 8);  // -8 to 7
    weight.values()[i] = i < 64 ? 0.25f * number : -3 * number;
  }
  const Tensor found = ops::PackedMatrix(weight, WeightFormat::int4).dequantize();
  EXPECT_TRUE(same_bits(found, weight));
}

TEST(QuantizedMatrix, RowsOfZerosStayZero) {
  const Tensor zeros = Tensor::zeros({3, 40});
  for (const WeightFormat format : quantized_formats) {
    EXPECT_TRUE(same_bits(ops::PackedMatrix(zeros, format).dequantize(), zeros));
  }
  Tensor tiny = zeros.clone();  // beside zeros: 0 times an infinite inverse would be NaN
  tiny.values()[7] = 1e-40f;
  for (const WeightFormat format : {WeightFormat::int8, WeightFormat::int4}) {
    EXPECT_TRUE(same_bits(ops::PackedMatrix(tiny, format).dequantize(), zeros));
  }
}

TEST(QuantizedMatrix, RoundingAgainChangesNothingInHalves) {
  const Tensor weight = sample({6, 40});
  for (const WeightFormat format : {WeightFormat::f16, WeightFormat::bf16}) {
    const Tensor once = ops::PackedMatrix(weight, format).dequantize();
    EXPECT_TRUE(same_bits(ops::PackedMatrix(once, format).dequantize(), once));
  }
}

TEST(QuantizedMatrix, TheNumberOfThreadsChangesNoBit) {
  const Tensor weight = sample({300, 70});
  const int threads = num_threads();
  for (const WeightFormat format : quantized_formats) {
    set_num_threads(1);
    const ops::QuantizedMatrix alone = ops::quantize(weight, format);
    set_num_threads(4);
    const ops::QuantizedMatrix together = ops::quantize(weight, format);
    EXPECT_EQ(alone.values, together.values);
    EXPECT_EQ(alone.scales, together.scales);
  }
  set_num_threads(threads);
}

TEST(QuantizedMatrix, RefusesWhatTheFormatCannotHold) {
  Tensor weight = Tensor::zeros({2, 3});
  EXPECT_THROW(ops::quantize(Tensor::zeros({3}), WeightFormat::int8), Error);
  weight.values()[4] = std::numeric_limits<float>::infinity();
  for (const WeightFormat format : quantized_formats) {
    EXPECT_THROW(ops::quantize(weight, format), Error);
  }
  weight.values()[4] = 65520;
  EXPECT_THROW(ops::quantize(weight, WeightFormat::f16), Error);
  EXPECT_NO_THROW(ops::quantize(weight, WeightFormat::bf16));
  EXPECT_NO_THROW(ops::quantize(weight, WeightFormat::int8));
  weight.values()[4] = 65500;
  EXPECT_NO_THROW(ops::quantize(weight, WeightFormat::f16));
}

}  // namespace
}  // namespace heed
