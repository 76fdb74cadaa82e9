#include "heed/ops/matmul.h"

#include <gtest/gtest.h>

#include <functional>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/linear_backward.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

TEST(Matmul, SmallValuesByHand) {
  const Tensor a = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = Tensor::from({1, 0, 0, 1, 1, 1}, {3, 2});
  EXPECT_EQ(values_of(ops::matmul(a, b)), (std::vector<float>{4, 5, 10, 11}));
  const Tensor y =
      ops::linear(a, Tensor::from({1, 1, 1, 0, 0, 1}, {2, 3}), Tensor::from({100, 200}, {2}));
  EXPECT_EQ(values_of(y), (std::vector<float>{106, 203, 115, 206}));
}

TEST(Matmul, ValuesAndGradientsMatchTheReference) {
  struct Sizes {
    Index m, k, n;
  };
  for (const auto [m, k, n] : {Sizes{1, 1, 1}, Sizes{3, 1, 5}, Sizes{7, 13, 17}, Sizes{33, 65, 9},
                               Sizes{80, 31, 64}, Sizes{150, 20, 70}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << m << " x " << k << " x " << n << transpose_a << transpose_b);
        const Tensor a = sample(transpose_a ? Shape{k, m} : Shape{m, k});
        const Tensor b = sample(transpose_b ? Shape{n, k} : Shape{k, n}, 2);
        expect_matches_reference(
            [&](const Inputs& in) {
              return ops::matmul(in[0], in[1],
                                 {.transpose_a = transpose_a, .transpose_b = transpose_b});
            },
            [&](const auto& in) {
              return reference::matmul(transpose_a ? reference::transposed(in[0]) : in[0],
                                       transpose_b ? reference::transposed(in[1]) : in[1]);
            },
            {a, b});
      }
    }
  }
}

TEST(Linear, ValuesAndGradientsMatchTheReference) {
  struct Sizes {
    Index rows, in, out;
  };
  for (const auto [rows, in_dim, out_dim] :
       {Sizes{1, 1, 1}, Sizes{1, 17, 33}, Sizes{5, 3, 7}, Sizes{70, 64, 80}, Sizes{131, 13, 31},
        Sizes{1100, 9, 5}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in_dim << " x " << out_dim);
    const Inputs inputs = {sample({rows, in_dim}), sample({out_dim, in_dim}, 2),
                           sample({out_dim}, 3)};
    expect_matches_reference([](const Inputs& in) { return ops::linear(in[0], in[1], in[2]); },
                             [](const auto& in) { return reference::linear(in[0], in[1], in[2]); },
                             inputs);
    expect_matches_reference([](const Inputs& in) { return ops::linear(in[0], in[1], Tensor()); },
                             []<typename T>(const reference::Matrices<T>& in) {
                               return reference::linear(in[0], in[1], reference::Matrix<T>());
                             },
                             {inputs[0], inputs[1]});
  }
}

TEST(Matmul, TheReferencesHaveTheRightGradients) {
  expect_gradient_is_right([](const auto& in) { return reference::matmul(in[0], in[1]); },
                           {sample({3, 4}), sample({4, 2}, 2)});
  expect_gradient_is_right([](const auto& in) { return reference::linear(in[0], in[1], in[2]); },
                           {sample({3, 4}), sample({2, 4}, 2), sample({2}, 3)});
}

TEST(Linear, ARowHasTheSameBitsWhateverOtherRowsAreThere) {
  const Tensor x = sample({203, 65}), weight = sample({130, 65}, 2), bias = sample({130}, 3);
  const Tensor whole = ops::linear(x, weight, bias);
  for (const Index count : {1, 2, 5, 8, 100}) {
    for (const Index begin : {0, 1, 77, 103}) {
      const Tensor part = ops::linear(rows_of(x, begin, count), weight, bias);
      EXPECT_TRUE(same_bits(part, rows_of(whole, begin, count))) << begin << " + " << count;
    }
  }
}

TEST(Linear, TheNumberOfThreadsChangesNoBit) {
  const int before = num_threads();
  const auto run = [](int threads, Index rows) {
    set_num_threads(threads);
    Inputs in = {sample({rows, 65}), sample({130, 65}, 2), sample({130}, 3)};
    for (Tensor& tensor : in) tensor.require_gradient();
    const Tensor y = ops::linear(in[0], in[1], in[2]);
    backward(y, sample(y.shape(), 4));
    return Inputs{y, in[0].gradient(), in[1].gradient(), in[2].gradient()};
  };
  for (const Index rows : {501, 1100}) {
    const Inputs one = run(1, rows), two = run(2, rows);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << i;
  }
  set_num_threads(before);
}

TEST(Matmul, EmptyMatricesGiveEmptyOrZeroResults) {
  EXPECT_EQ(ops::matmul(Tensor::zeros({0, 3}), Tensor::zeros({3, 2})).shape(), (Shape{0, 2}));
  EXPECT_EQ(values_of(ops::matmul(Tensor::zeros({1, 0}), Tensor::zeros({0, 2}))),
            (std::vector<float>{0, 0}));
}

TEST(Matmul, LargeAndSmallNumbersKeepTheirSize) {
  const Tensor y = ops::matmul(Tensor::from({1e30f, 1e-30f}, {1, 2}),
                               Tensor::from({1e-30f, 0, 0, 1e30f}, {2, 2}));
  EXPECT_FLOAT_EQ(y.values()[0], 1);
  EXPECT_FLOAT_EQ(y.values()[1], 1);
}

TEST(Matmul, RefusesInnerSizesThatDiffer) {
  EXPECT_THROW(ops::matmul(Tensor::zeros({2, 3}), Tensor::zeros({4, 5})), Error);
  EXPECT_THROW(ops::matmul(Tensor::zeros({2}), Tensor::zeros({2, 5})), Error);
  EXPECT_THROW(ops::linear(Tensor::zeros({2, 3}), Tensor::zeros({5, 4}), Tensor()), Error);
  EXPECT_THROW(ops::linear(Tensor::zeros({2, 3}), Tensor::zeros({5, 3}), Tensor::zeros({4})),
               Error);
}

// How far the memory of tensors rises in a forward and backward pass.
Index peak_bytes_of(const std::function<Tensor()>& loss) {
  const Index before = tensor_bytes();
  reset_peak_tensor_bytes();
  backward(loss());
  return peak_tensor_bytes() - before;
}

Tensor trained(Tensor x) {
  x.require_gradient();
  return x;
}

TEST(FrozenWeights, OfAProductGetNoGradient) {
  const Tensor x = sample({3000, 64}), weight = sample({64, 64}, 2);
  const auto peak = [](const Tensor& a, const Tensor& b) {
    return peak_bytes_of([&] { return ops::sum(ops::linear(a, b, Tensor())); });
  };
  const Tensor with = trained(x.clone()), without = trained(x.clone());
  const Index weight_bytes = weight.size() * static_cast<Index>(sizeof(float));
  EXPECT_LE(peak(without, weight) + weight_bytes, peak(with, trained(weight.clone())));
  EXPECT_TRUE(same_bits(without.gradient(), with.gradient()));

  const auto matmul_peak = [](const Tensor& a, const Tensor& b) {
    return peak_bytes_of([&] { return ops::sum(ops::matmul(a, b)); });
  };
  const Tensor left = sample({3000, 8}), right = trained(sample({8, 8}, 2));
  const Index left_bytes = left.size() * static_cast<Index>(sizeof(float));
  EXPECT_LE(matmul_peak(left, right) + left_bytes, matmul_peak(trained(left.clone()), right));
}

TEST(FrozenWeights, HaveNoGradientInTheBackwardOfALinearLayer) {
  for (const Index rows : {3, 3000}) {  // one by one, and in one pass
    SCOPED_TRACE(rows);
    const Tensor x = sample({rows, 16}), weight = sample({8, 16}, 2), dy = sample({rows, 8}, 3);
    const auto all = ops::linear_backward(dy, x, weight, {.wants_dbias = true});
    for (const bool wants_dbias : {false, true}) {
      const auto some =
          ops::linear_backward(dy, x, weight, {.wants_dweight = false, .wants_dbias = wants_dbias});
      EXPECT_FALSE(some.dweight.is_defined());
      EXPECT_TRUE(same_bits(some.dx, all.dx));
      EXPECT_TRUE(!wants_dbias || same_bits(some.dbias, all.dbias));
    }
  }
}

}  // namespace
}  // namespace heed
