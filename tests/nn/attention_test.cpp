#include "heed/nn/attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/key_value_cache.h"
#include "nn/module_parameters.h"
#include "support/reference_attention.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

const Spans two_sentences = Spans::of_lengths(std::vector<Index>{4, 3});

MultiHeadAttention layer(const MultiHeadAttentionOptions& options) {
  Rng rng(1);
  return MultiHeadAttention("decoder.2.self_attention", options, rng);
}

MultiHeadAttentionOptions eight_wide(Positions positions = Positions::none) {
  return {.model_dim = 8, .num_heads = 2, .positions = positions};
}

Tensor self_attend(const MultiHeadAttention& attention, const Packed& x) {
  auto context = ForwardContext::inference();
  return attention.forward(x, x, ops::AttentionMask::causal_mask(), context);
}

TEST(MultiHeadAttention, NamesItsParameters) {
  MultiHeadAttention attention = layer(eight_wide());
  EXPECT_EQ(
      parameter_names(attention),
      (std::vector<std::string>{"query.weight", "query.bias", "key.weight", "key.bias",
                                "value.weight", "value.bias", "output.weight", "output.bias"}));
}

TEST(MultiHeadAttention, FewerKeyValueHeadsMakeSmallerMatrices) {
  MultiHeadAttention attention = layer({.model_dim = 8, .num_heads = 4, .num_key_value_heads = 2});
  const auto parameters = named_parameters(attention);
  EXPECT_EQ(parameters[0].value.shape(), (Shape{8, 8}));
  EXPECT_EQ(parameters[2].value.shape(), (Shape{4, 8}));
  EXPECT_EQ(parameters[4].value.shape(), (Shape{4, 8}));
  EXPECT_EQ(self_attend(attention, {sample({7, 8}), two_sentences}).shape(), (Shape{7, 8}));
}

TEST(MultiHeadAttention, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_THROW(layer({.model_dim = 8, .num_heads = 3}), Error);
}

// A constant, no input: added to all keys of a query it shifts all scores alike, so that its
// gradient is nothing but rounding.
const Tensor key_bias = sample({4}, 5);
constexpr std::size_t key_bias_place = 3;  // among the parameters

struct ReferenceLayer {
  reference::AttentionProblem problem;
  ops::RotaryTable rotary = {};  // defined: rotate queries and keys

  template <typename T>
  reference::Matrix<T> rotate(const reference::Matrix<T>& x, Index num_heads) const {
    if (!rotary.cos.is_defined()) return x;
    const std::vector<Index> positions = ops::token_positions(problem.query_spans);
    return reference::rotary(x, matrix_of(rotary.cos), matrix_of(rotary.sin), std::span(positions),
                             {.num_heads = num_heads});
  }
  template <typename T>
  reference::Matrix<T> operator()(const reference::Matrices<T>& in) const {
    using reference::linear;
    reference::Matrix<T> constant_bias(1, 4);
    for (Index i = 0; i < 4; ++i) constant_bias.values[i] = T(key_bias.values()[i]);
    const Index groups = problem.options.num_key_value_heads;
    const auto q = rotate(linear(in[0], in[1], in[2]), problem.options.num_heads);
    const auto k = rotate(linear(in[0], in[3], constant_bias), groups);
    const auto v = linear(in[0], in[4], in[5]);
    return linear(reference::attention(q, k, v, problem), in[6], in[7]);
  }
};

void expect_layer_matches(const MultiHeadAttentionOptions& options,
                          const ReferenceLayer& reference) {
  MultiHeadAttention attention = layer(options);
  Inputs inputs = sample_inputs(attention, sample({7, 8}));
  inputs.erase(inputs.begin() + 1 + key_bias_place);
  expect_matches_reference(
      [&](const Inputs& in) {
        Inputs parameters(in.begin() + 1, in.end());
        parameters.insert(parameters.begin() + key_bias_place, key_bias);
        set_parameters(attention, parameters);
        return self_attend(attention, {in[0], two_sentences});
      },
      reference, inputs);
}

TEST(MultiHeadAttention, ValuesAndGradientsMatchTheReference) {
  const reference::AttentionProblem problem{two_sentences,
                                            two_sentences,
                                            ops::AttentionMask::causal_mask(),
                                            {.num_heads = 4, .num_key_value_heads = 2},
                                            nullptr};
  const MultiHeadAttentionOptions options{.model_dim = 8, .num_heads = 4, .num_key_value_heads = 2};
  {
    SCOPED_TRACE("scaled dot");
    expect_layer_matches(options, {problem});
  }
  {
    SCOPED_TRACE("cosine, by a scale that lets softmax tell words apart");
    auto cosine_options = options;
    cosine_options.similarity = ops::Similarity::cosine;
    auto cosine_problem = problem;
    cosine_problem.options.similarity = ops::Similarity::cosine;
    cosine_problem.options.scale = 10;
    expect_layer_matches(cosine_options, {cosine_problem});
  }
  {
    SCOPED_TRACE("rotary");
    auto rotary_options = options;
    rotary_options.positions = Positions::rotary;
    expect_layer_matches(rotary_options, {problem, ops::rotary_table(4, 2)});
  }
  {
    SCOPED_TRACE("alibi");
    auto alibi_options = options;
    alibi_options.positions = Positions::alibi;
    auto alibi_problem = problem;
    alibi_problem.options.alibi_slopes = ops::alibi_slopes(4);
    expect_layer_matches(alibi_options, {alibi_problem});
  }
}

TEST(MultiHeadAttention, RotaryAndAlibiTellPositionsApartAndNoneDoesNot) {
  Tensor x = sample({3, 8});  // the last token sees two others; swap them
  const Tensor swapped = Tensor::empty({3, 8});
  Tensor y = swapped;
  for (Index i = 0; i < 3; ++i) {
    const Index from = i == 2 ? 2 : 1 - i;
    std::copy_n(x.data() + from * 8, 8, y.data() + i * 8);
  }
  const auto last_row = [](const MultiHeadAttention& attention, const Tensor& values) {
    return values_of(rows_of(self_attend(attention, {values, Spans::single(3)}), 2, 1));
  };
  const auto largest_change = [&](Positions positions) {
    const MultiHeadAttention attention = layer(eight_wide(positions));
    const auto a = last_row(attention, x), b = last_row(attention, y);
    float change = 0;
    for (std::size_t i = 0; i < a.size(); ++i) change = std::max(change, std::abs(a[i] - b[i]));
    return change;
  };
  EXPECT_LT(largest_change(Positions::none), 1e-6);
  EXPECT_GT(largest_change(Positions::rotary), 1e-3);
  EXPECT_GT(largest_change(Positions::alibi), 1e-3);
}

TEST(MultiHeadAttention, TheTwoHalvesWithAPastContinueASequence) {
  for (const Positions positions : {Positions::none, Positions::rotary, Positions::alibi}) {
    const MultiHeadAttention attention = layer(eight_wide(positions));
    const Tensor x = sample({6, 8});
    const Tensor whole = self_attend(attention, {x, Spans::single(6)});
    const KeysAndValues all = attention.keys_and_values({x, Spans::single(6)});
    const std::vector<Index> past{4};
    const Packed tail{rows_of(x, 4, 2), Spans::single(2)};
    auto context = ForwardContext::inference();
    const Tensor continued =
        attention.attend(tail, all, ops::AttentionMask::causal_mask(), context, past);
    EXPECT_TRUE(same_bits(continued, rows_of(whole, 4, 2)));
    EXPECT_TRUE(same_bits(attention.keys_and_values(tail, past).keys.values,
                          rows_of(all.keys.values, 4, 2)));
  }
}

struct Keeper : Watcher {
  ops::AttentionView view;
  std::vector<std::string> names;
  ops::AttentionView* watch(std::string_view name) override {
    names.emplace_back(name);
    return &view;
  }
};

TEST(MultiHeadAttention, WhoWatchesSeesTheWeightsAndChangesNothing) {
  const MultiHeadAttention attention = layer(eight_wide());
  const Packed x{sample({7, 8}), two_sentences};
  Keeper watcher;
  auto context = ForwardContext::inference(&watcher);
  const Tensor watched = attention.forward(x, x, ops::AttentionMask::causal_mask(), context);
  EXPECT_TRUE(same_bits(watched, self_attend(attention, x)));
  EXPECT_EQ(watcher.names, (std::vector<std::string>{"decoder.2.self_attention"}));
  ASSERT_EQ(watcher.view.weights.size(), 2u);
  EXPECT_EQ(watcher.view.weights[1].shape(), (Shape{2, 3, 3}));
}

TEST(MultiHeadAttention, DropsWeightsOnlyInTraining) {
  auto options = eight_wide();
  options.dropout = 0.5f;
  const MultiHeadAttention attention = layer(options);
  const Packed x{sample({7, 8}), two_sentences};
  auto training = ForwardContext::training(1, 1);
  const Tensor trained = attention.forward(x, x, ops::AttentionMask::causal_mask(), training);
  EXPECT_FALSE(same_bits(trained, self_attend(attention, x)));
  EXPECT_TRUE(same_bits(self_attend(layer(eight_wide()), x), self_attend(attention, x)));
}

}  // namespace
}  // namespace heed::nn
