#include "heed/nn/transformer_stack.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/residual.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

TransformerOptions tiny_blocks() {
  return {.num_layers = 2, .model_dim = 8, .feed_forward_dim = 12, .num_heads = 2};
}

TransformerStack encoder(const TransformerOptions& options) {
  Rng rng(1);
  return TransformerStack("encoder", options, rng);
}
TransformerStack causal_stack(TransformerOptions options) {
  options.is_causal = true;
  return encoder(options);
}
TransformerStack decoder(TransformerOptions options) {
  options.is_causal = options.has_cross_attention = true;
  Rng rng(2);
  return TransformerStack("decoder", options, rng);
}

template <typename Module>
std::vector<std::string> names_without_details(Module& module) {
  std::vector<std::string> names;
  for (const std::string& name : parameter_names(module)) {
    const std::size_t second = name.find('.', name.find('.') + 1);
    const std::string role = name.substr(0, second);
    if (names.empty() || names.back() != role) names.push_back(role);
  }
  return names;
}

TEST(Encoder, NamesBlocksByNumberAndPartsByRole) {
  TransformerOptions options = tiny_blocks();
  options.num_layers = 1;
  TransformerStack after = encoder(options);
  EXPECT_EQ(names_without_details(after),
            (std::vector<std::string>{"0.self_attention", "0.self_attention_norm", "0.feed_forward",
                                      "0.feed_forward_norm"}));
  options.norm_place = NormPlace::before;
  options.positions = Positions::learned;
  TransformerStack before = encoder(options);
  EXPECT_EQ(names_without_details(before),
            (std::vector<std::string>{"positions.weight", "0.self_attention",
                                      "0.self_attention_norm", "0.feed_forward",
                                      "0.feed_forward_norm", "norm.gain", "norm.bias"}));
}

TEST(Decoder, NamesBlocksByNumberAndPartsByRole) {
  TransformerOptions options = tiny_blocks();
  options.num_layers = 1;
  TransformerStack module = decoder(options);
  EXPECT_EQ(names_without_details(module),
            (std::vector<std::string>{"0.self_attention", "0.self_attention_norm",
                                      "0.cross_attention", "0.cross_attention_norm",
                                      "0.feed_forward", "0.feed_forward_norm"}));
}

TEST(Encoder, NormAfterLeavesNormalisedRowsAndNormBeforeEndsWithANorm) {
  const Packed x{sample({5, 8}), Spans::single(5)};
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    TransformerOptions options = tiny_blocks();
    options.norm_place = place;
    auto context = ForwardContext::inference();
    const Tensor y = encoder(options).forward(x, context);
    for (Index row = 0; row < 5; ++row) {
      double mean = 0, square = 0;
      for (Index j = 0; j < 8; ++j) {
        mean += y.values()[row * 8 + j] / 8;
        square += std::pow(y.values()[row * 8 + j], 2) / 8;
      }
      EXPECT_NEAR(mean, 0, 1e-5);
      EXPECT_NEAR(square, 1, 1e-3);
    }
  }
}

TEST(TransformerStack, WithACausalMaskLaterTokensChangeNothingBefore) {
  const TransformerStack stack = causal_stack(tiny_blocks()),
                         bidirectional = encoder(tiny_blocks());
  const Tensor x = sample({5, 8});
  auto context = ForwardContext::inference();
  const auto run = [&](Index length) {
    const Packed tokens{rows_of(x, 0, length), Spans::single(length)};
    return stack.forward(tokens, context);
  };
  EXPECT_TRUE(same_bits(rows_of(run(5), 0, 3), run(3)));
  const Packed whole{x, Spans::single(5)}, part{rows_of(x, 0, 3), Spans::single(3)};
  EXPECT_FALSE(same_bits(rows_of(bidirectional.forward(whole, context), 0, 3),
                         bidirectional.forward(part, context)));
}

TEST(TransformerStack, PromptsAndStepsWithACacheEqualTheWholeSequence) {
  for (const Positions positions : {Positions::sinusoidal, Positions::learned, Positions::rotary,
                                    Positions::alibi, Positions::none}) {
    SCOPED_TRACE(static_cast<int>(positions));
    TransformerOptions options = tiny_blocks();
    options.norm_place = NormPlace::before;
    options.positions = positions;
    const TransformerStack stack = causal_stack(options);
    const Packed x{sample({11, 8}), Spans::of_lengths(std::vector<Index>{6, 5})};
    auto context = ForwardContext::inference();
    const Tensor whole = stack.forward(x, context);

    // Three tokens of the first row and two of the second, then one of each at a time.
    StackCache cache = stack.start(2);
    std::vector<Index> done{0, 0}, lengths{3, 2};
    for (int step = 0; step < 4; ++step) {
      Tensor next = Tensor::empty({lengths[0] + lengths[1], 8});
      std::copy_n(x.values.data() + done[0] * 8, lengths[0] * 8, next.data());
      std::copy_n(x.values.data() + (6 + done[1]) * 8, lengths[1] * 8,
                  next.data() + lengths[0] * 8);
      const Tensor y = stack.step({next, Spans::of_lengths(lengths)}, cache, context);
      EXPECT_TRUE(same_bits(rows_of(y, 0, lengths[0]), rows_of(whole, done[0], lengths[0])));
      EXPECT_TRUE(
          same_bits(rows_of(y, lengths[0], lengths[1]), rows_of(whole, 6 + done[1], lengths[1])));
      for (int row : {0, 1}) done[row] += lengths[row];
      EXPECT_EQ(std::vector<Index>(cache.lengths().begin(), cache.lengths().end()), done);
      lengths = {1, 1};
    }
  }
}

// Beyond one block of the softmax, and over many pages of the cache.
TEST(TransformerStack, LongTextsWithACacheEqualTheWholeSequence) {
  for (const Positions positions : {Positions::rotary, Positions::alibi}) {
    SCOPED_TRACE(static_cast<int>(positions));
    TransformerOptions options = tiny_blocks();
    options.positions = positions;
    const TransformerStack stack = causal_stack(options);
    constexpr Index length = 300;
    const Tensor x = sample({length, 8});
    auto context = ForwardContext::inference();
    const Tensor whole = stack.forward({x, Spans::single(length)}, context);
    StackCache cache = stack.start(1);
    Index done = 0;
    for (const Index count : {1, 14, 1, 1, 100, 5, 1, 1, 8, 150, 1, 17}) {
      const Packed next{rows_of(x, done, count), Spans::single(count)};
      EXPECT_TRUE(same_bits(stack.step(next, cache, context), rows_of(whole, done, count)))
          << count << " tokens after " << done;
      done += count;
    }
    EXPECT_EQ(done, length);
  }
}

TEST(TransformerStack, RefusesTokensForOtherRowsThanTheCacheHas) {
  const TransformerStack stack = causal_stack(tiny_blocks());
  StackCache cache = stack.start(2);
  auto context = ForwardContext::inference();
  EXPECT_THROW(stack.step({sample({3, 8}), Spans::single(3)}, cache, context), Error);
}

TEST(StackCache, ReorderedRowsContinueAsTheRowsTheyWere) {
  const TransformerStack stack = causal_stack(tiny_blocks());
  const Packed prompts{sample({4, 8}), Spans::of_lengths(std::vector<Index>{3, 1})};
  auto context = ForwardContext::inference();
  StackCache cache = stack.start(2);
  stack.step(prompts, cache, context);
  cache.reorder(std::vector<Index>{1, 1, 0});

  const Tensor next = sample({1, 8}, 5);
  Tensor repeated = Tensor::empty({3, 8});
  for (Index row = 0; row < 3; ++row) std::copy_n(next.data(), 8, repeated.data() + row * 8);
  const Spans ones = Spans::of_lengths(std::vector<Index>{1, 1, 1});
  const Tensor y = stack.step({repeated, ones}, cache, context);
  for (const auto& [row, prompt] : {std::pair{0, 1}, {1, 1}, {2, 0}}) {
    StackCache alone = stack.start(1);
    const Span& span = prompts.spans[prompt];
    stack.step({rows_of(prompts.values, span.begin, span.length), Spans::single(span.length)},
               alone, context);
    EXPECT_TRUE(
        same_bits(rows_of(y, row, 1), stack.step({next, Spans::single(1)}, alone, context)));
  }
}

// Rows split, end and continue at random; each must be what its tokens alone would give.
TEST(StackCache, RowsThatShareTheirPastOverManyPagesEqualWholeSequences) {
  const TransformerStack stack = causal_stack(tiny_blocks());
  auto context = ForwardContext::inference();
  StackCache cache = stack.start(1);
  Rng rng(5);
  std::vector<std::vector<float>> rows(1);  // the tokens' vectors, one after another
  for (int step = 0; step < 80; ++step) {
    const Index num_rows = std::ssize(rows);
    const Tensor next = sample({num_rows, 8}, 100 + step);
    for (Index row = 0; row < num_rows; ++row) {
      rows[row].insert(rows[row].end(), next.data() + row * 8, next.data() + (row + 1) * 8);
    }
    const Spans ones = Spans::of_lengths(std::vector<Index>(num_rows, 1));
    const Tensor y = stack.step({next, ones}, cache, context);
    for (Index row = 0; row < num_rows; ++row) {
      const Tensor x = Tensor::from(rows[row], {step + 1, 8});
      const Tensor whole = stack.forward({x, Spans::single(step + 1)}, context);
      ASSERT_TRUE(same_bits(rows_of(y, row, 1), rows_of(whole, step, 1)))
          << "step " << step << ", row " << row;
    }
    std::vector<Index> order(1 + rng.below(5));
    std::vector<std::vector<float>> reordered;
    for (Index& row : order) {
      row = static_cast<Index>(rng.below(num_rows));
      reordered.push_back(rows[row]);
    }
    cache.reorder(order);
    rows = std::move(reordered);
  }
}

TEST(Residual, NormBeforeKeepsTheInputAndNormAfterNormalisesTheSum) {
  Rng rng(1);
  const Norm norm(NormKind::layer, 4, rng);
  const Tensor x = sample({3, 4});
  auto context = ForwardContext::inference();
  const auto twice = [](const Tensor& t) { return ops::scale(t, 2); };
  EXPECT_TRUE(
      same_bits(residual(x, norm, {.norm_place = NormPlace::before, .dropout = 0}, context, twice),
                ops::add(x, twice(norm.forward(x)))));
  EXPECT_TRUE(
      same_bits(residual(x, norm, {.norm_place = NormPlace::after, .dropout = 0}, context, twice),
                norm.forward(ops::add(x, twice(x)))));
}

TEST(Decoder, StepsEqualTheWholeSequenceAndShareTheMemoryAmongRows) {
  const TransformerStack module = decoder(tiny_blocks());
  const Packed memory{sample({7, 8}, 3), Spans::of_lengths(std::vector<Index>{4, 3})};
  const Packed x{sample({10, 8}, 4), Spans::of_lengths(std::vector<Index>{5, 5})};
  auto context = ForwardContext::inference();
  const Tensor whole = module.forward(x, memory, context);

  StackCache state = module.start(memory, std::vector<Index>{2, 1});
  const Spans ones = Spans::of_lengths(std::vector<Index>{1, 1, 1});
  EXPECT_EQ(std::vector<Index>(state.sequences().begin(), state.sequences().end()),
            (std::vector<Index>{0, 0, 1}));
  for (Index t = 0; t < 5; ++t) {
    Tensor next = Tensor::empty({3, 8});
    for (const auto& [row, sequence] : {std::pair{0, 0}, {1, 0}, {2, 1}}) {
      std::copy_n(x.values.data() + (sequence * 5 + t) * 8, 8, next.data() + row * 8);
    }
    const Tensor y = module.step({next, ones}, state, context);
    EXPECT_TRUE(same_bits(rows_of(y, 0, 1), rows_of(whole, t, 1)));
    EXPECT_TRUE(same_bits(rows_of(y, 1, 1), rows_of(whole, t, 1)));
    EXPECT_TRUE(same_bits(rows_of(y, 2, 1), rows_of(whole, 5 + t, 1)));
  }
  EXPECT_EQ(state.lengths()[2], 5);
}

TEST(Decoder, RefusesAMemoryOfOtherSequences) {
  const TransformerStack module = decoder(tiny_blocks());
  const Packed memory{sample({7, 8}), Spans::of_lengths(std::vector<Index>{4, 3})};
  auto context = ForwardContext::inference();
  EXPECT_THROW(module.forward({sample({2, 8}), Spans::single(2)}, memory, context), Error);
  EXPECT_THROW(module.start(memory, std::vector<Index>{1}), Error);
}

TEST(TransformerStack, StepsOfSeveralTokensWithAMemoryEqualTheWholeSequence) {
  const TransformerStack module = decoder(tiny_blocks());
  const Packed memory{sample({7, 8}, 3), Spans::of_lengths(std::vector<Index>{4, 3})};
  const Packed x{sample({6, 8}, 4), Spans::of_lengths(std::vector<Index>{4, 2})};
  auto context = ForwardContext::inference();
  const Tensor whole = module.forward(x, memory, context);
  StackCache cache = module.start(memory, std::vector<Index>{1, 1});
  const Packed first{
      Tensor::from(std::vector<float>(x.values.data(), x.values.data() + 5 * 8), {5, 8}),
      Spans::of_lengths(std::vector<Index>{4, 1})};
  EXPECT_TRUE(same_bits(module.step(first, cache, context), rows_of(whole, 0, 5)));
  const Packed second{rows_of(x.values, 5, 1), Spans::of_lengths(std::vector<Index>{0, 1})};
  EXPECT_TRUE(same_bits(module.step(second, cache, context), rows_of(whole, 5, 1)));
}

TEST(TransformerStack, RefusesACacheOfAnotherKindOfStack) {
  const Packed memory{sample({4, 8}), Spans::single(4)};
  EXPECT_THROW(encoder(tiny_blocks()).start(1), Error);
  EXPECT_THROW(decoder(tiny_blocks()).start(1), Error);
  EXPECT_THROW(causal_stack(tiny_blocks()).start(memory, std::vector<Index>{1}), Error);
}

}  // namespace
}  // namespace heed::nn
