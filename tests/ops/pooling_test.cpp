#include "heed/ops/pooling.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

const Spans spans = Spans::of_lengths(std::vector<Index>{3, 1, 5});

TEST(MeanRows, GivesTheMeanOfEachSequence) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 7, 9}, {3, 2});
  const Tensor y = ops::mean_rows({x, Spans::of_lengths(std::vector<Index>{2, 1})});
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(values_of(y), (std::vector<float>{2, 3, 7, 9}));
}

TEST(MeanRows, ValuesAndGradientsMatchTheReference) {
  for (const Index dim : {1, 3, 17, 64}) {
    SCOPED_TRACE(dim);
    expect_matches_reference(
        [](const Inputs& in) {
          return ops::mean_rows({in[0], spans});
        },
        [](const auto& in) { return reference::mean_rows(in[0], spans); }, {sample({9, dim})});
  }
  expect_gradient_is_right([](const auto& in) { return reference::mean_rows(in[0], spans); },
                           {sample({9, 3})});
}

TEST(MeanRows, OfASequenceIsTheSameToTheBitAloneAndAmongOthers) {
  const Tensor x = sample({9, 33});
  const Tensor together = ops::mean_rows({x, spans});
  for (Index s = 0; s < spans.count(); ++s) {
    const Tensor own = rows_of(x, spans[s].begin, spans[s].length);
    EXPECT_TRUE(
        same_bits(ops::mean_rows({own, Spans::single(spans[s].length)}), rows_of(together, s, 1)));
  }
}

TEST(MeanRows, StaysFiniteForTheLargestNumbersWhoseSumIs) {
  const Tensor y = ops::mean_rows({Tensor::full({4, 2}, 5e37f), Spans::single(4)});
  EXPECT_EQ(values_of(y), (std::vector<float>{5e37f, 5e37f}));
}

TEST(MeanRows, RefusesAnEmptySequenceAndTooFewRows) {
  EXPECT_THROW(ops::mean_rows({sample({3, 2}), Spans::of_lengths(std::vector<Index>{3, 0})}),
               Error);
  EXPECT_THROW(ops::mean_rows({sample({8, 2}), spans}), Error);
}

TEST(MaxRows, GivesTheLargestOfEachColumnAndItsGradientToTheFirst) {
  const Tensor x = Tensor::from({1, 4, 3, 4, 7, -9}, {3, 2});
  const Tensor y = ops::max_rows({x, Spans::of_lengths(std::vector<Index>{2, 1})});
  EXPECT_EQ(values_of(y), (std::vector<float>{3, 4, 7, -9}));
  Tensor leaf = x;
  leaf.require_gradient();
  backward(ops::max_rows({leaf, Spans::of_lengths(std::vector<Index>{2, 1})}),
           Tensor::from({1, 2, 3, 5}, {2, 2}));
  EXPECT_EQ(values_of(leaf.gradient()), (std::vector<float>{0, 2, 1, 0, 3, 5}));
  EXPECT_THROW(ops::max_rows({x, Spans::of_lengths(std::vector<Index>{3, 0})}), Error);
}

TEST(MaxRows, ValuesAndGradientsMatchTheReference) {
  expect_matches_reference(
      [](const Inputs& in) {
        return ops::max_rows({in[0], spans});
      },
      [](const auto& in) { return reference::max_rows(in[0], spans); }, {sample({9, 17})});
}

}  // namespace
}  // namespace heed
