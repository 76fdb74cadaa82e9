#include "heed/nn/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/reference.h"

namespace heed::nn {
namespace {

TEST(Linear, NamesItsParameters) {
  Rng rng(1);
  Linear with_bias(3, 2, rng);
  EXPECT_EQ(parameter_names(with_bias), (std::vector<std::string>{"weight", "bias"}));
  Linear without_bias(3, 2, rng, {.has_bias = false});
  EXPECT_EQ(parameter_names(without_bias), (std::vector<std::string>{"weight"}));
}

TEST(Linear, BeginsWithinTheBoundOfItsGainAndFillsIt) {
  Rng rng(1);
  Linear linear(40, 60, rng, {.gain = 0.5f});
  const float bound = 0.5f * std::sqrt(6.0f / 100.0f);
  const auto [smallest, largest] = std::ranges::minmax(linear.weight().values.values());
  EXPECT_GE(smallest, -bound);
  EXPECT_LE(largest, bound);
  EXPECT_LT(smallest, -0.99f * bound);
  EXPECT_GT(largest, 0.99f * bound);
  const Tensor bias = named_parameters(linear).back().value;
  for (const float b : bias.values()) EXPECT_EQ(b, 0);
}

TEST(Linear, ValuesAndGradientsMatchTheReference) {
  Rng rng(1);
  Linear linear(3, 5, rng);
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(linear, std::span(in).subspan(1));
        return linear.forward(in[0]);
      },
      [](const auto& in) { return reference::linear(in[0], in[1], in[2]); },
      sample_inputs(linear, sample({4, 3})));
}

}  // namespace
}  // namespace heed::nn
