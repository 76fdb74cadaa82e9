#include "heed/nn/feed_forward.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

FeedForward feed_forward(Activation activation, float dropout = 0) {
  Rng rng(1);
  return FeedForward(
      {.model_dim = 4, .hidden_dim = 7, .activation = activation, .dropout = dropout}, rng);
}

TEST(FeedForward, NamesItsParametersAndHasAGateOnlyForSwiglu) {
  FeedForward plain = feed_forward(Activation::relu);
  EXPECT_EQ(parameter_names(plain), (std::vector<std::string>{"hidden.weight", "hidden.bias",
                                                              "output.weight", "output.bias"}));
  FeedForward gated = feed_forward(Activation::swiglu);
  EXPECT_EQ(parameter_names(gated),
            (std::vector<std::string>{"hidden.weight", "hidden.bias", "gate.weight", "gate.bias",
                                      "output.weight", "output.bias"}));
}

template <typename Reference>
void expect_layer_matches(FeedForward layer, const Reference& reference) {
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(layer, std::span(in).subspan(1));
        auto context = ForwardContext::inference();
        return layer.forward(in[0], context);
      },
      reference, sample_inputs(layer, sample({3, 4})));
}

TEST(FeedForward, ValuesAndGradientsMatchTheReferenceForEveryActivation) {
  using reference::linear;
  expect_layer_matches(feed_forward(Activation::relu), [](const auto& in) {
    return linear(reference::relu(linear(in[0], in[1], in[2])), in[3], in[4]);
  });
  expect_layer_matches(feed_forward(Activation::gelu), [](const auto& in) {
    const auto hidden = reference::gelu(linear(in[0], in[1], in[2]), ops::GeluForm::exact);
    return linear(hidden, in[3], in[4]);
  });
  expect_layer_matches(feed_forward(Activation::swiglu), [](const auto& in) {
    const auto gate = linear(in[0], in[3], in[4]);
    return linear(reference::swiglu(gate, linear(in[0], in[1], in[2])), in[5], in[6]);
  });
}

TEST(FeedForward, SwigluIsSiluWithAGate) {
  Rng rng(1), same(1);
  const FeedForward swiglu({.model_dim = 4, .hidden_dim = 7, .activation = Activation::swiglu},
                           rng);
  const FeedForward silu(
      {.model_dim = 4, .hidden_dim = 7, .activation = Activation::silu, .has_gate = true}, same);
  auto context = ForwardContext::inference();
  EXPECT_TRUE(
      same_bits(swiglu.forward(sample({3, 4}), context), silu.forward(sample({3, 4}), context)));
}

TEST(FeedForward, WithoutBiasValuesAndGradientsMatchTheReference) {
  Rng rng(1);
  FeedForward layer({.model_dim = 4, .hidden_dim = 7, .has_bias = false}, rng);
  EXPECT_EQ(parameter_names(layer), (std::vector<std::string>{"hidden.weight", "output.weight"}));
  expect_layer_matches(layer, []<typename T>(const reference::Matrices<T>& in) {
    const reference::Matrix<T> none;
    return linear(reference::relu(linear(in[0], in[1], none)), in[2], none);
  });
}

TEST(FeedForward, DropsHiddenValuesOnlyInTraining) {
  const FeedForward dropping = feed_forward(Activation::relu, 0.5f);
  const FeedForward plain = feed_forward(Activation::relu);
  const Tensor x = sample({6, 4});
  auto inference = ForwardContext::inference();
  auto training = ForwardContext::training(1, 1);
  EXPECT_TRUE(same_bits(dropping.forward(x, inference), plain.forward(x, inference)));
  EXPECT_FALSE(same_bits(dropping.forward(x, training), plain.forward(x, inference)));
}

}  // namespace
}  // namespace heed::nn
