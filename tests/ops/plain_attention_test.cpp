#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/ops/attention.h"
#include "support/attention_case.h"
#include "support/gradient_check.h"
#include "support/same_bits.h"

namespace heed {
namespace {

TEST(PlainAttention, OneSequenceIsThePackedFormToTheBit) {
  const AttentionCase c{.query_lengths = {7},
                        .key_lengths = {9},
                        .mask = {.causal = true, .window = 4, .dense = nullptr},
                        .options = {.num_heads = 4, .num_key_value_heads = 2, .softcap = 3}};
  const AttentionRun packed =
      run_with_gradients(c.inputs(), [&](const Inputs& in) { return c.run(in); });
  const AttentionRun plain = run_with_gradients(c.inputs(), [](const Inputs& in) {
    return ops::attention(
        in[0], in[1], in[2],
        {.num_heads = 4, .num_key_value_heads = 2, .causal = true, .window = 4, .softcap = 3});
  });
  EXPECT_TRUE(same_bits(plain.output, packed.output));
  EXPECT_TRUE(same_bits(plain.dquery, packed.dquery));
  EXPECT_TRUE(same_bits(plain.dkey, packed.dkey));
  EXPECT_TRUE(same_bits(plain.dvalue, packed.dvalue));
}

TEST(PlainAttention, SequencesOfABatchAreThePackedFormToTheBit) {
  const AttentionCase c{
      .query_lengths = {5, 5, 5}, .key_lengths = {8, 8, 8}, .options = {.num_heads = 2}};
  const AttentionRun packed =
      run_with_gradients(c.inputs(), [&](const Inputs& in) { return c.run(in); });
  Inputs batch;
  for (const Tensor& x : c.inputs()) batch.push_back(x.view({3, x.dim(0) / 3, x.dim(1)}));
  const AttentionRun plain = run_with_gradients(
      batch, [](const Inputs& in) { return ops::attention(in[0], in[1], in[2], {.num_heads = 2}); },
      sample(packed.output.shape(), 9).view({3, 5, 8}));
  EXPECT_EQ(plain.output.shape(), (Shape{3, 5, 8}));
  EXPECT_EQ(plain.dkey.shape(), (Shape{3, 8, 8}));
  EXPECT_TRUE(same_bits(plain.output.view({15, 8}), packed.output));
  EXPECT_TRUE(same_bits(plain.dquery.view({15, 8}), packed.dquery));
  EXPECT_TRUE(same_bits(plain.dkey.view({24, 8}), packed.dkey));
  EXPECT_TRUE(same_bits(plain.dvalue.view({24, 8}), packed.dvalue));
}

TEST(PlainAttention, AMaskAppliesToAllHeadsToEachHeadOrToEachSequence) {
  constexpr Index sequences = 2, heads = 3, queries = 4, keys = 5;
  const Tensor q = sample({sequences, queries, heads * 2}, 1),
               k = sample({sequences, keys, heads * 2}, 2);
  const Tensor cells = sample({queries, keys}, 3);
  const auto repeated = [&](Index times) {
    std::vector<float> values;
    for (Index i = 0; i < times; ++i) {
      values.insert(values.end(), cells.values().begin(), cells.values().end());
    }
    return values;
  };
  const auto run = [&](const Tensor& mask) {
    return ops::attention(q, k, k, {.num_heads = heads, .mask = mask});
  };
  const Tensor y = run(cells);
  EXPECT_TRUE(same_bits(y, run(Tensor::from(repeated(heads), {heads, queries, keys}))));
  EXPECT_TRUE(same_bits(
      y, run(Tensor::from(repeated(sequences * heads), {sequences, heads, queries, keys}))));
  EXPECT_FALSE(same_bits(y, run(Tensor())));
}

TEST(PlainAttention, ACausalMaskOfNumbersEqualsTheCausalOption) {
  const Tensor x = sample({6, 4}, 1);
  Tensor mask = Tensor::zeros({6, 6});
  for (Index i = 0; i < 6; ++i) {
    for (Index j = i + 1; j < 6; ++j) mask.data()[i * 6 + j] = masked_cell;
  }
  EXPECT_TRUE(same_bits(ops::attention(x, x, x, {.causal = true}),
                        ops::attention(x, x, x, {.mask = mask})));
}

TEST(PlainAttention, AViewHoldsTheWeightsOfEverySequence) {
  const Tensor x = sample({2, 3, 4}, 1);
  ops::AttentionView view;
  ops::attention(x, x, x, {.num_heads = 2, .causal = true}, &view);
  ASSERT_EQ(view.weights.size(), 2u);
  EXPECT_EQ(view.weights[1].shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(view.weights[1].values()[0], 1);
  EXPECT_EQ(view.weights[1].values()[1], 0);
}

TEST(PlainAttention, RefusesShapesThatDoNotFit) {
  const Tensor x = Tensor::zeros({3, 4}), batch = Tensor::zeros({2, 3, 4});
  EXPECT_THROW(ops::attention(x, batch, batch), Error);
  EXPECT_THROW(ops::attention(Tensor::zeros({4}), x, x), Error);
  EXPECT_THROW(ops::attention(batch, Tensor::zeros({1, 3, 4}), batch), Error);
  EXPECT_THROW(ops::attention(x, x, x, {.num_heads = 3}), Error);
  EXPECT_THROW(ops::attention(x, x, x, {.mask = Tensor::zeros({3, 4})}), Error);
  Tensor learned = Tensor::zeros({3, 3});
  learned.require_gradient();
  EXPECT_THROW(ops::attention(x, x, x, {.mask = learned}), Error);
}

}  // namespace
}  // namespace heed
