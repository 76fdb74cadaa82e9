// Every choice of TransformerOptions: values and gradients of a stack against plain loops, and
// decoding with a cache against whole sequences.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/transformer_stack.h"
#include "nn/keeping_watcher.h"
#include "nn/module_parameters.h"
#include "nn/reference_stack.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

TransformerOptions tiny_blocks() {
  return {.num_layers = 2,
          .model_dim = 8,
          .feed_forward_dim = 12,
          .num_heads = 2,
          .norm_place = NormPlace::before,
          .positions = Positions::none};
}

TransformerStack stack_of(const TransformerOptions& options) {
  Rng rng(1);
  return TransformerStack("decoder", options, rng);
}

// Without rotary positions a bias of the keys shifts all scores of a query alike, so that its
// gradient is nothing but rounding: it stays constant.
bool is_key_bias(const std::string& name) {
  return name.ends_with("key.bias") || name.ends_with("key_norm.bias");
}

void expect_stack_matches(const TransformerOptions& options) {
  TransformerStack stack = stack_of(options);
  const std::vector<std::string> names = parameter_names(stack);
  const Spans spans = Spans::of_lengths(std::vector<Index>{6, 3});
  Inputs all = sample_inputs(stack, sample({9, options.model_dim}));
  // Smaller weights: with large scores a softmax picks one key, and its gradient is mostly
  // rounding.
  for (Tensor& parameter : std::span(all).subspan(1)) {
    for (float& value : parameter.values()) value *= 0.5f;
  }
  Inputs inputs{all[0]};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_key_bias(names[i])) inputs.push_back(all[i + 1]);
  }
  expect_matches_reference(
      [&](const Inputs& in) {
        Inputs parameters;
        std::size_t next = 1;
        for (std::size_t i = 0; i < names.size(); ++i) {
          parameters.push_back(is_key_bias(names[i]) ? all[i + 1] : in[next++]);
        }
        set_parameters(stack, parameters);
        auto context = ForwardContext::inference();
        return stack.forward({in[0], spans}, context);
      },
      [&]<typename T>(const reference::Matrices<T>& in) {
        typename reference::StackReference<T>::Parameters parameters;
        std::size_t next = 1;
        for (std::size_t i = 0; i < names.size(); ++i) {
          const auto to_constant = [](double value) { return T(value); };
          reference::Matrix<T> constant(1, all[i + 1].dim(-1));
          std::ranges::transform(all[i + 1].values().first(constant.values.size()),
                                 constant.values.begin(), to_constant);
          parameters[names[i]] = is_key_bias(names[i]) ? constant : in[next++];
        }
        return reference::StackReference<T>(options, parameters).forward(in[0], spans);
      },
      inputs, 5e-5);
}

// Prompts of several tokens, then one after another, over pages of the cache and blocks of keys.
void expect_steps_equal_whole(TransformerOptions options) {
  options.is_causal = true;
  TransformerStack stack = stack_of(options);
  const Inputs values = sample_inputs(stack, sample({150, options.model_dim}));
  set_parameters(stack, std::span(values).subspan(1));
  auto context = ForwardContext::inference();
  const Tensor whole = stack.forward({values[0], Spans::single(150)}, context);
  StackCache cache = stack.start(1);
  Index done = 0;
  for (const Index count : {1, 14, 1, 2, 100, 5, 1, 1, 8, 1, 16}) {
    const Packed next{rows_of(values[0], done, count), Spans::single(count)};
    EXPECT_TRUE(same_bits(stack.step(next, cache, context), rows_of(whole, done, count)))
        << count << " tokens after " << done;
    done += count;
  }
  EXPECT_EQ(done, 150);
}

void expect_watching_changes_nothing(const TransformerOptions& options) {
  const TransformerStack stack = stack_of(options);
  const Packed x{sample({9, options.model_dim}), Spans::of_lengths(std::vector<Index>{6, 3})};
  KeepingWatcher watcher;
  const AttentionHook hook;
  auto context = ForwardContext::inference(), watched = ForwardContext::inference(&watcher, &hook);
  const Tensor y = stack.forward(x, watched);
  EXPECT_TRUE(same_bits(y, stack.forward(x, context)));
  EXPECT_TRUE(same_bits(y, watcher.seen.at("decoder.final")));
  EXPECT_TRUE(watcher.seen.contains("decoder.0.after_self_attention"));
  EXPECT_EQ(watcher.views.at("decoder.0.self_attention").weights[1].shape(),
            (Shape{options.num_heads, 3, 3}));
}

void expect_right(const TransformerOptions& options) {
  expect_stack_matches(options);
  expect_watching_changes_nothing(options);
  expect_steps_equal_whole(options);
}

TEST(TransformerOptions, DefaultsMatchTheReference) {
  expect_right(tiny_blocks());
  TransformerOptions after = tiny_blocks();
  after.norm_place = NormPlace::after;
  expect_right(after);
}

TEST(TransformerOptions, NormsHaveTheirEpsilonBiasAndOffset) {
  TransformerOptions options = tiny_blocks();
  options.norm_epsilon = 0.01f;
  options.has_norm_bias = false;
  expect_right(options);
  options.norm_kind = NormKind::rms;
  options.has_norm_unit_offset = true;
  expect_right(options);
}

TEST(TransformerOptions, AttentionHasTheBiasesThatItIsGiven) {
  for (const AttentionBias bias : {AttentionBias::none, AttentionBias::query_key_value}) {
    TransformerOptions options = tiny_blocks();
    options.attention_bias = bias;
    TransformerStack stack = stack_of(options);
    const std::vector<std::string> names = parameter_names(stack);
    const auto has = [&](const char* name) { return std::ranges::count(names, name) == 1; };
    EXPECT_EQ(has("0.self_attention.query.bias"), bias == AttentionBias::query_key_value);
    EXPECT_EQ(has("0.self_attention.value.bias"), bias == AttentionBias::query_key_value);
    EXPECT_FALSE(has("0.self_attention.output.bias"));
    expect_right(options);
  }
}

TEST(TransformerOptions, HeadsMayBeWiderOrNarrowerThanTheirShareOfTheWidth) {
  for (const Index head_dim : {3, 6}) {
    TransformerOptions options = tiny_blocks();
    options.num_heads = 3;
    options.num_key_value_heads = 1;
    options.head_dim = head_dim;
    TransformerStack stack = stack_of(options);
    const auto parameters = named_parameters(stack);
    EXPECT_EQ(parameters[0].value.shape(), (Shape{3 * head_dim, 8}));
    EXPECT_EQ(parameters[2].value.shape(), (Shape{head_dim, 8}));
    EXPECT_EQ(parameters[6].value.shape(), (Shape{8, 3 * head_dim}));
    expect_right(options);
  }
}

TEST(TransformerOptions, TheFeedForwardMayHaveNoBias) {
  TransformerOptions options = tiny_blocks();
  options.has_feed_forward_bias = false;
  expect_right(options);
}

TEST(TransformerOptions, EveryActivationHasAPlainAndAGatedForm) {
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
        Activation::silu, Activation::swiglu}) {
    for (const bool has_gate : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(activation) << ", gate " << has_gate);
      TransformerOptions options = tiny_blocks();
      options.num_layers = 1;
      options.activation = activation;
      options.has_feed_forward_gate = has_gate;
      expect_right(options);
    }
  }
}

TEST(TransformerOptions, RotaryPositionsHaveTheirBaseWidthAndScaling) {
  TransformerOptions options = tiny_blocks();
  options.num_key_value_heads = 1;
  options.head_dim = 6;
  options.positions = Positions::rotary;
  options.rotary.base = 500;
  expect_right(options);
  options.rotary.dim = 4;
  options.rotary.scaling = ops::RotaryScaling::yarn;
  options.rotary.factor = 8;
  options.rotary.original_positions = 32;
  expect_right(options);
}

TEST(TransformerOptions, QueriesAndKeysMayBeNormalisedInEveryHead) {
  TransformerOptions options = tiny_blocks();
  options.num_key_value_heads = 1;
  options.head_dim = 6;
  options.positions = Positions::rotary;
  options.norm_kind = NormKind::rms;
  options.has_query_key_norm = true;
  TransformerStack stack = stack_of(options);
  const std::vector<std::string> names = parameter_names(stack);
  EXPECT_EQ(std::ranges::count(names, "0.self_attention.query_norm.gain"), 1);
  EXPECT_EQ(std::ranges::count(names, "1.self_attention.key_norm.gain"), 1);
  expect_right(options);
  options.norm_kind = NormKind::layer;
  options.positions = Positions::none;
  expect_right(options);
}

TEST(TransformerOptions, EachLayerHasItsWindow) {
  TransformerOptions options = tiny_blocks();
  options.windows = {2, 0};
  expect_right(options);
  options.is_causal = true;
  expect_right(options);

  // One layer whose tokens see one key before their own: the first of three does not matter.
  options.num_layers = 1;
  const TransformerStack stack = stack_of(options);
  Tensor x = sample({3, 8});
  auto context = ForwardContext::inference();
  const Tensor before = rows_of(stack.forward({x, Spans::single(3)}, context), 1, 2);
  x.values()[0] += 1;
  const Tensor after = rows_of(stack.forward({x, Spans::single(3)}, context), 1, 2);
  EXPECT_FALSE(same_bits(rows_of(before, 0, 1), rows_of(after, 0, 1)));
  EXPECT_TRUE(same_bits(rows_of(before, 1, 1), rows_of(after, 1, 1)));
}

TEST(TransformerOptions, ScoresHaveTheirScaleAndCap) {
  TransformerOptions options = tiny_blocks();
  options.attention_scale = 0.3f;
  options.attention_softcap = 2;
  expect_right(options);
}

TEST(TransformerOptions, NormsMayStandAroundSubLayers) {
  TransformerOptions options = tiny_blocks();
  options.norm_place = NormPlace::around;
  options.num_layers = 1;
  TransformerStack stack = stack_of(options);
  std::vector<std::string> norms;
  for (const std::string& name : parameter_names(stack)) {
    if (name.ends_with("norm.gain")) norms.push_back(name);
  }
  EXPECT_EQ(norms,
            (std::vector<std::string>{
                "0.self_attention_norm.gain", "0.self_attention_output_norm.gain",
                "0.feed_forward_norm.gain", "0.feed_forward_output_norm.gain", "norm.gain"}));
  expect_right(options);
}

TEST(TransformerOptions, SubLayersMayBeParallelWithOneNormOrTwo) {
  TransformerOptions options = tiny_blocks();
  options.block_form = BlockForm::parallel;
  expect_right(options);
  options.block_form = BlockForm::parallel_one_norm;
  expect_right(options);
  TransformerStack stack = stack_of(options);
  const std::vector<std::string> names = parameter_names(stack);
  EXPECT_EQ(std::ranges::count(names, "0.feed_forward_norm.gain"), 0);
  options.norm_place = NormPlace::after;
  EXPECT_THROW(stack_of(options), Error);
}

TEST(TransformerOptions, TheEmbeddingsMayHaveANormAndTheEndMayHaveNone) {
  TransformerOptions options = tiny_blocks();
  options.has_embedding_norm = true;
  options.has_final_norm = false;
  expect_right(options);
  options.norm_place = NormPlace::after;
  expect_right(options);
  options.has_final_norm = true;
  expect_right(options);
}

TEST(TransformerOptions, PositionsMayHaveAnOffset) {
  TransformerOptions options = tiny_blocks();
  options.positions = Positions::learned;
  options.max_positions = 150;
  options.position_offset = 2;
  options.has_embedding_norm = true;
  expect_right(options);
  options.positions = Positions::sinusoidal;
  options.sinusoid_order = ops::SinusoidOrder::halves;
  expect_steps_equal_whole(options);
}

TEST(TransformerOptions, RelativePositionsHaveOneTableForAllLayers) {
  TransformerOptions options = tiny_blocks();
  options.attention_scale = 1;
  options.relative_positions = {.num_buckets = 8, .max_distance = 5, .is_bidirectional = true};
  TransformerStack stack = stack_of(options);
  const auto parameters = named_parameters(stack);
  EXPECT_EQ(parameters[0].name, "relative_positions.weight");
  EXPECT_EQ(parameters[0].value.shape(), (Shape{8, 2}));
  expect_right(options);
  options.is_causal = true;
  options.relative_positions = {.num_buckets = 8, .max_distance = 20, .is_bidirectional = false};
  options.num_key_value_heads = 1;
  options.positions = Positions::learned;  // as MPNet has
  options.max_positions = 150;
  expect_right(options);
}

// Cross-attention has a norm at its end as the other sub-layers have.
TEST(TransformerOptions, StepsWithNormsAroundAndAMemoryEqualTheWholeSequence) {
  TransformerOptions options = tiny_blocks();
  options.norm_place = NormPlace::around;
  options.is_causal = options.has_cross_attention = true;
  const TransformerStack stack = stack_of(options);
  const Packed memory{sample({4, 8}, 3), Spans::single(4)};
  const Tensor x = sample({5, 8});
  auto context = ForwardContext::inference();
  const Tensor whole = stack.forward({x, Spans::single(5)}, memory, context);
  StackCache cache = stack.start(memory, std::vector<Index>{1});
  for (Index t = 0; t < 5; ++t) {
    const Packed next{rows_of(x, t, 1), Spans::single(1)};
    EXPECT_TRUE(same_bits(stack.step(next, cache, context), rows_of(whole, t, 1)));
  }
}

}  // namespace
}  // namespace heed::nn
