#include "heed/nn/interventions.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/transformer_stack.h"
#include "nn/keeping_watcher.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

const Spans two_sentences = Spans::of_lengths(std::vector<Index>{4, 3});
const std::string layer_name = "encoder.0.self_attention";

MultiHeadAttention layer(Positions positions = Positions::none) {
  Rng rng(1);
  return MultiHeadAttention(layer_name, {.model_dim = 8, .num_heads = 2, .positions = positions},
                            rng);
}

struct Outcome {
  Tensor output;
  KeepingWatcher watcher;
  const ops::AttentionView& view() const { return watcher.views.at(layer_name); }
};

Outcome run(const Interventions* interventions, const MultiHeadAttention& attention = layer()) {
  Outcome result;
  auto context = ForwardContext::inference(&result.watcher, interventions);
  const Packed x{sample({7, 8}), two_sentences};
  result.output = attention.forward(x, x, ops::AttentionMask::none(), context);
  return result;
}

TEST(Interventions, NoChangeAndAScaleOfOneChangeNoBit) {
  const Outcome plain = run(nullptr);
  const Interventions none;
  EXPECT_TRUE(same_bits(run(&none).output, plain.output));
  Interventions one;
  one.scales = {{layer_name, 0, 1}, {layer_name, 1, 1}};
  EXPECT_TRUE(same_bits(run(&one).output, plain.output));
}

TEST(Interventions, AScaleMultipliesTheColumnsOfItsHead) {
  const Outcome plain = run(nullptr);
  for (const float scale : {0.0f, 0.5f, 3.0f}) {
    Interventions interventions;
    interventions.scales = {{layer_name, 1, scale}};
    const Outcome changed = run(&interventions);
    Tensor mixed = plain.watcher.seen.at(layer_name + ".mixed").clone();
    for (Index row = 0; row < 7; ++row) {
      for (Index i = 4; i < 8; ++i) mixed.data()[row * 8 + i] *= scale;
    }
    EXPECT_TRUE(same_bits(changed.watcher.seen.at(layer_name + ".mixed"), mixed)) << scale;
    EXPECT_FALSE(same_bits(changed.output, plain.output)) << scale;
  }
}

// As if the columns of the output matrix that read this head were zeros.
TEST(Interventions, AScaleOfZeroEqualsAHeadWhoseColumnsAreZeros) {
  Interventions off;
  off.scales = {{layer_name, 0, 0}};
  MultiHeadAttention without = layer();
  for (NamedTensor& parameter : named_parameters(without)) {
    if (parameter.name != "output.weight") continue;
    for (Index row = 0; row < 8; ++row) std::fill_n(parameter.value.data() + row * 8, 4, 0.0f);
  }
  EXPECT_TRUE(same_bits(run(&off).output, run(nullptr, without).output));
}

TEST(Interventions, AForbiddenLinkHasWeightZeroAndTheOthersShareIt) {
  Interventions interventions;
  interventions.knockouts = {{layer_name, 1, 2, 0}};
  const Outcome plain = run(nullptr), changed = run(&interventions);
  for (const Index sequence : {0, 1}) {
    const Index length = two_sentences[sequence].length;
    for (Index head = 0; head < 2; ++head) {
      for (Index query = 0; query < length; ++query) {
        const Index row = (head * length + query) * length;
        const auto before = plain.view().weights[sequence].values().subspan(row, length);
        const auto after = changed.view().weights[sequence].values().subspan(row, length);
        float sum = 0;
        for (const float weight : after) sum += weight;
        EXPECT_NEAR(sum, 1, 1e-6);
        if (head == 1 && query == 2) {
          EXPECT_EQ(after[0], 0.0f);
          EXPECT_GT(after[1], before[1]);
        } else {
          EXPECT_TRUE(std::ranges::equal(before, after));
        }
      }
    }
  }
}

TEST(Interventions, ALinkWithoutAHeadIsForbiddenInAll) {
  Interventions interventions;
  interventions.knockouts = {{layer_name, std::nullopt, 3, 1}};
  const Tensor weights = run(&interventions).view().weights[0];  // [2, 4, 4]
  EXPECT_EQ(weights.values()[3 * 4 + 1], 0.0f);
  EXPECT_EQ(weights.values()[16 + 3 * 4 + 1], 0.0f);
}

TEST(Interventions, AQueryWhoseLinksAreAllForbiddenFindsNothing) {
  Interventions interventions;
  for (const Index key : {0, 1, 2, 3}) interventions.knockouts.push_back({layer_name, 0, 3, key});
  const Outcome changed = run(&interventions);
  const Tensor mixed = changed.watcher.seen.at(layer_name + ".mixed");
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(mixed.values()[3 * 8 + i], 0.0f);
  EXPECT_NE(mixed.values()[3 * 8 + 4], 0.0f);
}

TEST(Interventions, ANudgeIsAddedToOneQueryOfOneHead) {
  Interventions interventions;
  interventions.steering = {{layer_name, 1, 2, {1, 2, 3, 4}}};
  const Outcome plain = run(nullptr), changed = run(&interventions);
  Tensor expected = plain.watcher.seen.at(layer_name + ".mixed").clone();
  for (const Index row : {2, 4 + 2}) {
    for (Index i = 0; i < 4; ++i) expected.data()[row * 8 + 4 + i] += static_cast<float>(i + 1);
  }
  EXPECT_TRUE(same_bits(changed.watcher.seen.at(layer_name + ".mixed"), expected));
}

TEST(Interventions, AnotherSimilarityIsThatOfALayerMadeWithIt) {
  for (const auto similarity :
       {ops::Similarity::dot, ops::Similarity::cosine, ops::Similarity::scaled_dot}) {
    Interventions interventions;
    interventions.swapped_similarity = similarity;
    Rng rng(1);
    const MultiHeadAttention own(layer_name,
                                 {.model_dim = 8, .num_heads = 2, .similarity = similarity}, rng);
    EXPECT_TRUE(same_bits(run(&interventions).output, run(nullptr, own).output));
  }
}

TEST(Interventions, AnotherLayersChangesChangeNothing) {
  Interventions interventions;
  interventions.scales = {{"encoder.1.self_attention", 0, 0}};
  interventions.knockouts = {{"encoder.1.self_attention", 0, 1, 1}};
  interventions.steering = {{"encoder.1.self_attention", 0, 1, {1, 1, 1, 1}}};
  EXPECT_TRUE(same_bits(run(&interventions).output, run(nullptr).output));
}

TEST(Interventions, RefusesHeadsThatTheLayerDoesNotHave) {
  Interventions scale, link, steering_vector, wide;
  scale.scales = {{layer_name, 2, 1}};
  link.knockouts = {{layer_name, 2, 0, 0}};
  steering_vector.steering = {{layer_name, -1, 0, {1, 1, 1, 1}}};
  wide.steering = {{layer_name, 0, 0, {1, 1, 1}}};
  for (const Interventions* interventions : {&scale, &link, &steering_vector, &wide}) {
    EXPECT_THROW(run(interventions), Error);
  }
}

TransformerOptions blocks(Positions positions) {
  return {.num_layers = 2,
          .model_dim = 8,
          .feed_forward_dim = 12,
          .num_heads = 2,
          .positions = positions,
          .is_causal = true};
}

// Of every kind, near the beginning and behind the first page of the cache.
Interventions changes_of(const std::string& stack) {
  Interventions interventions;
  interventions.scales = {{stack + ".0.self_attention", 0, 0.5f}};
  interventions.knockouts = {{stack + ".0.self_attention", 1, 3, 2},
                             {stack + ".1.self_attention", std::nullopt, 18, 1},
                             {stack + ".1.self_attention", 0, 19, 17},
                             {stack + ".1.cross_attention", 1, 4, 2},
                             {stack + ".0.cross_attention", std::nullopt, 2, 1}};
  interventions.steering = {{stack + ".1.self_attention", 1, 17, {1, 2, 3, 4}}};
  interventions.swapped_similarity = ops::Similarity::dot;
  return interventions;
}

TEST(Interventions, WithACacheEqualThoseWithout) {
  for (const Positions positions : {Positions::sinusoidal, Positions::rotary, Positions::alibi}) {
    Rng rng(1);
    const TransformerStack stack("decoder", blocks(positions), rng);
    const Interventions interventions = changes_of("decoder");
    auto context = ForwardContext::inference(nullptr, &interventions);
    auto plain = ForwardContext::inference();
    const Packed x{sample({20, 8}), Spans::single(20)};
    const Tensor whole = stack.forward(x, context);
    EXPECT_FALSE(same_bits(whole, stack.forward(x, plain)));
    StackCache cache = stack.start(1);
    Index done = 0;
    for (const Index count : {3, 1, 13, 1, 1, 1}) {
      const Packed next{rows_of(x.values, done, count), Spans::single(count)};
      EXPECT_TRUE(same_bits(stack.step(next, cache, context), rows_of(whole, done, count)))
          << count << " tokens after " << done;
      done += count;
    }
  }
}

TEST(Interventions, HypothesesOfOneMemoryStandWhereTheirRowsEnd) {
  Rng rng(2);
  TransformerOptions options = blocks(Positions::sinusoidal);
  options.has_cross_attention = true;
  const TransformerStack stack("decoder", options, rng);
  const Interventions interventions = changes_of("decoder");
  auto context = ForwardContext::inference(nullptr, &interventions);
  const Packed memory{sample({7, 8}, 3), Spans::of_lengths(std::vector<Index>{4, 3})};
  const Packed x{sample({12, 8}, 4), Spans::of_lengths(std::vector<Index>{6, 6})};
  const Tensor whole = stack.forward(x, memory, context);
  const Spans ones = Spans::of_lengths(std::vector<Index>{1, 1, 1});
  StackCache state = stack.start(memory, std::vector<Index>{2, 1});
  for (Index t = 0; t < 6; ++t) {
    Tensor next = Tensor::empty({3, 8});
    for (const auto& [row, sequence] : {std::pair{0, 0}, {1, 0}, {2, 1}}) {
      std::copy_n(x.values.data() + (sequence * 6 + t) * 8, 8, next.data() + row * 8);
    }
    const Tensor y = stack.step({next, ones}, state, context);
    EXPECT_TRUE(same_bits(rows_of(y, 0, 1), rows_of(whole, t, 1)));
    EXPECT_TRUE(same_bits(rows_of(y, 1, 1), rows_of(whole, t, 1)));
    EXPECT_TRUE(same_bits(rows_of(y, 2, 1), rows_of(whole, 6 + t, 1)));
  }
}

}  // namespace
}  // namespace heed::nn
