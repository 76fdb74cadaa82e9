#include "heed/nn/norm.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

TEST(Norm, NamesItsParameters) {
  Rng rng(1);
  Norm layer(NormKind::layer, 4, rng);
  EXPECT_EQ(parameter_names(layer), (std::vector<std::string>{"gain", "bias"}));
  Norm rms(NormKind::rms, 4, rng);
  EXPECT_EQ(parameter_names(rms), (std::vector<std::string>{"gain"}));
  Norm without_bias({.kind = NormKind::layer, .has_bias = false}, 4, rng);
  EXPECT_EQ(parameter_names(without_bias), (std::vector<std::string>{"gain"}));
}

TEST(Norm, BeginsWithMeanZeroAndVarianceOne) {
  Rng rng(1);
  const Tensor y = Norm(NormKind::layer, 4, rng).forward(Tensor::from({1, 2, 3, 6}, {1, 4}));
  double mean = 0, square = 0;
  for (const float v : y.values()) {
    mean += v / 4;
    square += v * v / 4;
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST(Norm, ValuesAndGradientsMatchTheReferenceOfItsKind) {
  Rng rng(1);
  Norm layer(NormKind::layer, 5, rng);
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(layer, std::span(in).subspan(1));
        return layer.forward(in[0]);
      },
      [](const auto& in) { return reference::layer_norm(in[0], in[1], in[2], 1e-5); },
      sample_inputs(layer, sample({3, 5})));
  Norm rms(NormKind::rms, 5, rng);
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(rms, std::span(in).subspan(1));
        return rms.forward(in[0]);
      },
      [](const auto& in) { return reference::rms_norm(in[0], in[1], 1e-5); },
      sample_inputs(rms, sample({3, 5})));
}

TEST(Norm, LayerNormWithoutBiasMatchesTheReferenceOfItsEpsilon) {
  Rng rng(1);
  Norm norm({.kind = NormKind::layer, .epsilon = 0.1f, .has_bias = false}, 5, rng);
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(norm, std::span(in).subspan(1));
        return norm.forward(in[0]);
      },
      []<typename T>(const reference::Matrices<T>& in) {
        return reference::layer_norm(in[0], in[1], reference::Matrix<T>(), 0.1f);
      },
      sample_inputs(norm, sample({3, 5})));
}

TEST(Norm, WithAUnitOffsetTheGainIsOneMoreThanTheParameter) {
  Rng rng(1);
  Norm norm({.kind = NormKind::rms, .epsilon = 0.1f, .has_unit_offset = true}, 5, rng);
  EXPECT_EQ(values_of(named_parameters(norm).front().value), std::vector<float>(5, 0));
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(norm, std::span(in).subspan(1));
        return norm.forward(in[0]);
      },
      []<typename T>(const reference::Matrices<T>& in) {
        const auto gain = reference::map(in[1], [](const T& value) { return value + T(1.0); });
        return reference::rms_norm(in[0], gain, 0.1f);
      },
      sample_inputs(norm, sample({3, 5})));
}

}  // namespace
}  // namespace heed::nn
