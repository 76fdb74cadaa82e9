#include "heed/ops/operators.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

TEST(Operators, SmallValuesByHand) {
  const Tensor a = Tensor::from({1, -2, 3}, {3}), b = Tensor::from({10, 20, 30}, {3});
  EXPECT_EQ(values_of(a + b), (std::vector<float>{11, 18, 33}));
  EXPECT_EQ(values_of(a - b), (std::vector<float>{-9, -22, -27}));
  EXPECT_EQ(values_of(a * b), (std::vector<float>{10, -40, 90}));
  EXPECT_EQ(values_of(a + 1), (std::vector<float>{2, -1, 4}));
  EXPECT_EQ(values_of(1 + a), (std::vector<float>{2, -1, 4}));
  EXPECT_EQ(values_of(a - 1), (std::vector<float>{0, -3, 2}));
  EXPECT_EQ(values_of(1 - a), (std::vector<float>{0, 3, -2}));
  EXPECT_EQ(values_of(a * 2), (std::vector<float>{2, -4, 6}));
  EXPECT_EQ(values_of(2 * a), (std::vector<float>{2, -4, 6}));
  EXPECT_EQ(values_of(-a), (std::vector<float>{-1, 2, -3}));
}

TEST(Operators, ValuesAndGradientsMatchTheReference) {
  for (const Shape& shape : {Shape{1}, Shape{4, 1}, Shape{3, 17}, Shape{7, 33}}) {
    expect_matches_reference(
        [](const Inputs& in) { return 3 - (2 * in[0] - in[1] + 1) * in[1] - 0.5f * -in[0]; },
        [](const auto& in) {
          auto y = in[0];
          for (std::size_t i = 0; i < y.values.size(); ++i) {
            const auto a = in[0].values[i], b = in[1].values[i];
            using T = std::decay_t<decltype(a)>;
            y.values[i] = T(3.0) - (T(2.0) * a - b + T(1.0)) * b + T(0.5) * a;
          }
          return y;
        },
        {sample(shape, 1), sample(shape, 2)});
  }
}

TEST(Operators, RefuseShapesThatDiffer) {
  EXPECT_THROW(Tensor::zeros({2}) - Tensor::zeros({3}), Error);
  EXPECT_THROW(Tensor::zeros({2}) + Tensor::zeros({1, 2}), Error);
}

}  // namespace
}  // namespace heed
