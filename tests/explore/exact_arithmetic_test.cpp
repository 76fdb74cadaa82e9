#include "heed/explore/exact_arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/ops/attention.h"
#include "heed/ops/linear.h"
#include "heed/ops/norm.h"
#include "support/same_bits.h"
#include "support/sample.h"

namespace heed::explore {
namespace {

TEST(ExactArithmetic, KnowsHowThisProcessorAddsUp) {
  EXPECT_GE(vector_facts().lanes, 1);
  EXPECT_NE(vector_facts().lane_order, LaneOrder::unknown);
}

TEST(ExactArithmetic, ProductSumsAreThoseOfMatrixProducts) {
  for (const Index width : {1, 7, 64, 256, 257, 600}) {
    const Tensor x = sample({3, width}), w = sample({5, width}, 2);
    const Tensor y = ops::linear(x, w, Tensor());
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 5; ++j) {
        EXPECT_EQ(y.values()[i * 5 + j], product_sum(x.values().subspan(i * width, width),
                                                     w.values().subspan(j * width, width)))
            << width;
      }
    }
  }
}

TEST(ExactArithmetic, NormsAreThoseOfTheEngine) {
  for (const Index width : {3, 8, 16, 100, 513}) {
    const Tensor x = sample({1, width}), gain = sample({width}, 2), bias = sample({width}, 3);
    const Tensor layer = ops::layer_norm(x, gain, bias), rms = ops::rms_norm(x, gain);
    const Tensor unit = ops::unit_vectors(x, width);
    EXPECT_EQ(values_of(layer),
              layer_norm_steps(x.values(), gain.values(), bias.values(), 1e-5f).result)
        << width;
    EXPECT_EQ(values_of(rms), rms_norm_steps(x.values(), gain.values(), 1e-5f).result) << width;
    EXPECT_EQ(values_of(unit), unit_steps(x.values()).result) << width;
  }
}

TEST(ExactArithmetic, ExponentialsAreClose) {
  for (float x = 0; x > -87; x -= 0.37f) {
    EXPECT_NEAR(exp_steps(x).result / std::exp(static_cast<double>(x)), 1, 3e-7) << x;
  }
  EXPECT_EQ(exp_steps(0).result, 1.0f);
  EXPECT_EQ(exp_steps(-88).result, 0.0f);
  EXPECT_EQ(exp_steps(-std::numeric_limits<float>::infinity()).result, 0.0f);
}

// Short rows, rows of several blocks, rows whose largest score comes late, masked keys.
TEST(ExactArithmetic, SoftmaxIsThatOfAttention) {
  for (const Index keys : {1, 5, 16, 128, 129, 400}) {
    const Tensor q = ops::scale(sample({keys, 8}), 3), k = sample({keys, 8}, 2);
    const Spans spans = Spans::single(keys);
    ops::AttentionView view;
    ops::attention({q, spans}, {k, spans}, k, ops::AttentionMask::causal_mask(), {}, &view);
    for (const Index query : {Index{0}, keys / 2, keys - 1}) {
      const auto row = [&](const std::vector<Tensor>& stage) {
        return stage.at(0).values().subspan(query * keys, keys);
      };
      const SoftmaxSteps steps = softmax_steps(row(view.masked));
      for (Index j = 0; j < keys; ++j) {
        const float e = exp_steps(row(view.masked)[j] - steps.max).result;
        ASSERT_EQ(e * steps.inverse, row(view.weights)[j]) << keys << " keys, query " << query;
      }
    }
  }
}

}  // namespace
}  // namespace heed::explore
