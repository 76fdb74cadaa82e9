#include "heed/ops/packed_matrix.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/linear.h"
#include "support/same_bits.h"
#include "support/sample.h"

namespace heed {
namespace {

TEST(PackedMatrix, GivesTheBitsOfLinearForAnyNumberOfRows) {
  Rng rng(1);
  for (const Index in_dim : {1, 30, 128, 300}) {
    for (const Index out_dim : {1, 17, 600}) {
      const Tensor weight = Tensor::randn({out_dim, in_dim}, rng);
      const Tensor bias = Tensor::randn({out_dim}, rng);
      const ops::PackedMatrix packed(weight);
      for (const Index rows : {0, 1, 5, 7, 100, 192, 193, 400}) {
        const Tensor x = Tensor::randn({rows, in_dim}, rng);
        EXPECT_TRUE(same_bits(ops::linear(x, packed, bias), ops::linear(x, weight, bias)));
        EXPECT_TRUE(same_bits(ops::linear(x, packed, Tensor()), ops::linear(x, weight, Tensor())));
      }
    }
  }
}

TEST(PackedMatrix, InFewerBitsGivesTheBitsOfItsWidenedWeightForAnyRowsAndThreads) {
  Rng rng(1);
  const int threads = num_threads();
  for (const WeightFormat format :
       {WeightFormat::f16, WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4}) {
    for (const auto& [out_dim, in_dim] : {std::pair{17, 30}, std::pair{600, 300}}) {
      const ops::PackedMatrix packed(Tensor::randn({out_dim, in_dim}, rng), format);
      EXPECT_EQ(packed.format(), format);
      const Tensor wide = packed.dequantize(), bias = Tensor::randn({out_dim}, rng);
      for (const Index rows : {0, 1, 2, 5, 100, 193, 400}) {
        const Tensor x = Tensor::randn({rows, in_dim}, rng);
        const Tensor expected = ops::linear(x, wide, bias);
        for (const int count : {1, 3}) {
          set_num_threads(count);
          EXPECT_TRUE(same_bits(ops::linear(x, packed, bias), expected));
        }
      }
    }
  }
  set_num_threads(threads);
}

TEST(PackedMatrix, GivesItsFloatsBack) {
  const Tensor weight = sample({37, 21});
  EXPECT_TRUE(same_bits(ops::PackedMatrix(weight).dequantize(), weight));
}

TEST(PackedMatrix, RefusesOtherWidthsAndGradients) {
  const ops::PackedMatrix packed(Tensor::zeros({3, 4}));
  EXPECT_THROW(ops::linear(Tensor::zeros({2, 3}), packed, Tensor()), Error);
  EXPECT_THROW(ops::linear(Tensor::zeros({2, 4}), packed, Tensor::zeros({4})), Error);
  EXPECT_THROW(ops::PackedMatrix(Tensor::zeros({4})), Error);
  Tensor x = Tensor::zeros({2, 4});
  x.require_gradient();
  EXPECT_THROW(ops::linear(x, packed, Tensor()), Error);
  const NoGrad no_grad;
  EXPECT_NO_THROW(ops::linear(x, packed, Tensor()));
}

}  // namespace
}  // namespace heed
