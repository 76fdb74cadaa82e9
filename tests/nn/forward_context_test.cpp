#include "heed/nn/forward_context.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/nn/transformer_stack.h"
#include "heed/ops/elementwise.h"
#include "nn/keeping_watcher.h"
#include "support/gradient_check.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

TransformerOptions one_block(NormPlace place = NormPlace::after) {
  return {.num_layers = 1,
          .model_dim = 8,
          .feed_forward_dim = 12,
          .num_heads = 2,
          .norm_place = place,
          .is_causal = true};
}

TEST(Watcher, SeesAStackFromTheWordsToTheResult) {
  Rng rng(1);
  TransformerOptions options = one_block(NormPlace::before);
  options.has_cross_attention = true;
  const TransformerStack stack("decoder", options, rng);
  const Packed memory{sample({5, 8}), Spans::single(5)};
  const Packed x{sample({3, 8}, 2), Spans::single(3)};
  KeepingWatcher watcher;
  auto context = ForwardContext::inference(&watcher);
  const Tensor y = stack.forward(x, memory, context);
  EXPECT_EQ(
      watcher.order,
      (std::vector<std::string>{
          "decoder.words", "decoder.embedded", "decoder.0.self_attention.input",
          "decoder.0.self_attention.queries", "decoder.0.self_attention.keys",
          "decoder.0.self_attention.values", "decoder.0.self_attention.mixed",
          "decoder.0.self_attention.output", "decoder.0.after_self_attention",
          "decoder.0.cross_attention.input", "decoder.0.cross_attention.queries",
          "decoder.0.cross_attention.keys", "decoder.0.cross_attention.values",
          "decoder.0.cross_attention.mixed", "decoder.0.cross_attention.output",
          "decoder.0.after_cross_attention", "decoder.0.after_feed_forward", "decoder.final"}));
  const auto& seen = watcher.seen;
  EXPECT_TRUE(same_bits(seen.at("decoder.words"), x.values));
  EXPECT_TRUE(same_bits(seen.at("decoder.final"), y));
  EXPECT_TRUE(same_bits(seen.at("decoder.0.after_cross_attention"),
                        ops::add(seen.at("decoder.0.after_self_attention"),
                                 seen.at("decoder.0.cross_attention.output"))));
  EXPECT_EQ(seen.at("decoder.0.cross_attention.keys").dim(0), 5);
  EXPECT_EQ(watcher.views.size(), 2u);
}

TEST(Watcher, ChangesNoBitOfAnyStep) {
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    Rng rng(1);
    const TransformerStack stack("decoder", one_block(place), rng);
    const Packed x{sample({20, 8}), Spans::single(20)};
    KeepingWatcher watcher;
    auto watched = ForwardContext::inference(&watcher), plain = ForwardContext::inference();
    EXPECT_TRUE(same_bits(stack.forward(x, watched), stack.forward(x, plain)));
    StackCache seen = stack.start(1), unseen = stack.start(1);
    Index done = 0;
    for (const Index count : {17, 1, 2}) {
      const Packed next{rows_of(x.values, done, count), Spans::single(count)};
      EXPECT_TRUE(same_bits(stack.step(next, seen, watched), stack.step(next, unseen, plain)));
      done += count;
    }
  }
}

TEST(WordLeaves, HoldTheGradientByEveryWord) {
  Rng rng(1);
  const TransformerStack stack("encoder", one_block(), rng);
  const Tensor x = sample({3, 8});
  const Tensor weights = sample({3, 8}, 7);
  const auto result_of = [&](const Tensor& words, ForwardContext& context) {
    return ops::sum(ops::multiply(stack.forward({words, Spans::single(3)}, context), weights));
  };
  WordLeaves leaves;
  auto context = ForwardContext::inference();
  context.set_word_leaves(&leaves);
  backward(result_of(x, context));
  const Tensor& leaf = leaves.at("encoder");
  EXPECT_TRUE(same_bits(leaf.detach(), x));
  ASSERT_TRUE(leaf.gradient().is_defined());

  const NoGrad no_grad;
  auto plain = ForwardContext::inference();
  const float step = 1e-2f;
  for (const Index i : {0, 9, 23}) {
    Tensor up = x.clone(), down = x.clone();
    up.data()[i] += step;
    down.data()[i] -= step;
    const float slope = (result_of(up, plain).item() - result_of(down, plain).item()) / (2 * step);
    EXPECT_NEAR(leaf.gradient().values()[i], slope, 2e-2) << i;
  }
}

}  // namespace
}  // namespace heed::nn
