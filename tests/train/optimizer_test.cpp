#include "heed/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "support/same_bits.h"

namespace heed::train {
namespace {

// A matrix larger than one piece of the optimizer, and a small vector.
std::vector<nn::NamedTensor> sample_parameters() {
  Rng rng(3);
  std::vector<nn::NamedTensor> parameters{{"matrix", Tensor::randn({211, 173}, rng)},
                                          {"vector", Tensor::randn({13}, rng)}};
  for (auto& parameter : parameters) parameter.value.require_gradient();
  return parameters;
}

// Leaves `direction` as the gradient of x.
void set_gradient(const Tensor& x, const Tensor& direction) {
  x.needs_gradient();
  backward(ops::sum(ops::multiply(x, direction)));
}

std::vector<Tensor> set_gradients(const std::vector<nn::NamedTensor>& parameters,
                                  std::uint64_t key) {
  Rng rng(key);
  std::vector<Tensor> gradients;
  for (const auto& parameter : parameters) {
    gradients.push_back(Tensor::randn(parameter.value.shape(), rng));
    set_gradient(parameter.value, gradients.back());
  }
  return gradients;
}

// Adam and AdamW of one number, in double, as the papers write them.
struct Reference {
  OptimizerOptions options;
  double weight, mean = 0, square = 0;

  void step(double gradient, double rate, int t, bool is_matrix) {
    const double decay = is_matrix ? options.weight_decay : 0;
    if (options.kind == OptimizerKind::adam) gradient += decay * weight;
    mean = options.beta1 * mean + (1 - options.beta1) * gradient;
    square = options.beta2 * square + (1 - options.beta2) * gradient * gradient;
    const double corrected_mean = mean / (1 - std::pow(options.beta1, t));
    const double corrected_square = square / (1 - std::pow(options.beta2, t));
    if (options.kind == OptimizerKind::adamw) weight -= rate * decay * weight;
    weight -= rate * corrected_mean / (std::sqrt(corrected_square) + options.epsilon);
  }
};

double norm_of(const std::vector<Tensor>& gradients, double scale) {
  double total = 0;
  for (const Tensor& gradient : gradients) {
    for (const float value : gradient.values()) total += scale * value * scale * value;
  }
  return std::sqrt(total);
}

void expect_matches_reference(const OptimizerOptions& options) {
  auto parameters = sample_parameters();
  std::vector<std::vector<Reference>> references;
  for (const auto& parameter : parameters) {
    auto& list = references.emplace_back();
    for (const float value : parameter.value.values()) list.push_back({options, value});
  }

  Optimizer optimizer(parameters, options);
  const double scale = 0.25;
  for (int t = 1; t <= 5; ++t) {
    const double rate = 0.01 * t;
    const auto gradients = set_gradients(parameters, 100 + t);
    const double norm = norm_of(gradients, scale);
    const double clip = options.clip > 0 ? std::min(1.0, options.clip / norm) : 1;
    const auto step = optimizer.step(rate, scale);
    optimizer.clear_gradients();
    EXPECT_TRUE(step.is_applied);
    EXPECT_NEAR(step.gradient_norm, norm, 1e-9 * norm);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      for (Index i = 0; i < parameters[p].value.size(); ++i) {
        references[p][i].step(clip * scale * gradients[p].values()[i], rate, t,
                              parameters[p].value.rank() == 2);
      }
    }
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    for (Index i = 0; i < parameters[p].value.size(); ++i) {
      ASSERT_NEAR(parameters[p].value.values()[i], references[p][i].weight, 2e-5)
          << parameters[p].name << ' ' << i;
    }
  }
}

TEST(Optimizer, AdamMatchesTheReference) { expect_matches_reference({.epsilon = 1e-6}); }

TEST(Optimizer, AdamAddsWeightDecayToTheGradient) {
  expect_matches_reference({.epsilon = 1e-6, .weight_decay = 0.1});
}

TEST(Optimizer, AdamWTakesWeightDecayOffTheWeight) {
  expect_matches_reference(
      {.kind = OptimizerKind::adamw, .beta2 = 0.999, .epsilon = 1e-6, .weight_decay = 0.1});
}

TEST(Optimizer, ClipsTheNormOfTheWholeGradient) {
  // Far below the norm of about 48: epsilon is large enough to see the size of the gradient.
  expect_matches_reference({.epsilon = 0.1, .clip = 2});
}

TEST(Optimizer, LeavesSmallGradientsAsTheyAre) {
  expect_matches_reference({.epsilon = 0.1, .clip = 1000});
}

TEST(Optimizer, IsTheSameToTheBitForAnyNumberOfThreads) {
  const int before = num_threads();
  std::vector<std::vector<nn::NamedTensor>> results;
  std::vector<double> norms;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    results.push_back(sample_parameters());
    Optimizer optimizer(results.back(), {.clip = 1});
    set_gradients(results.back(), 9);
    norms.push_back(optimizer.step(0.01, 1).gradient_norm);
  }
  set_num_threads(before);
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(norms[0], norms[i]);
    EXPECT_TRUE(same_bits(results[0][0].value, results[i][0].value));
    EXPECT_TRUE(same_bits(results[0][1].value, results[i][1].value));
  }
}

TEST(Optimizer, NamesTheGradientsThatAreNotFinite) {
  auto parameters = sample_parameters();
  Optimizer optimizer(parameters, {});
  EXPECT_EQ(optimizer.non_finite_gradients(), std::vector<std::string>{});
  Tensor direction = Tensor::full({211, 173}, 1);
  direction.data()[0] = direction.data()[211 * 173 - 1] = std::numeric_limits<float>::quiet_NaN();
  set_gradient(parameters[0].value, direction);
  set_gradient(parameters[1].value, Tensor::full({13}, 1));
  EXPECT_EQ(optimizer.non_finite_gradients(), std::vector<std::string>{"matrix"});
  set_gradient(parameters[1].value, Tensor::full({13}, std::numeric_limits<float>::infinity()));
  EXPECT_EQ(optimizer.non_finite_gradients(), (std::vector<std::string>{"matrix", "vector"}));
}

TEST(Optimizer, AGradientThatIsNotFiniteChangesNothing) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    auto parameters = sample_parameters();
    const Tensor before = parameters[0].value.clone();
    Optimizer optimizer(parameters, {});
    Tensor direction = Tensor::full({13}, 1);
    direction.data()[5] = bad;
    set_gradient(parameters[1].value, direction);
    set_gradient(parameters[0].value, Tensor::full({211, 173}, 1));
    EXPECT_FALSE(optimizer.step(0.01, 1).is_applied);
    EXPECT_EQ(optimizer.num_steps(), 0);
    EXPECT_TRUE(same_bits(parameters[0].value, before));
  }
}

TEST(Optimizer, AParameterWithoutAGradientStays) {
  auto parameters = sample_parameters();
  const Tensor before = parameters[0].value.clone();
  Optimizer optimizer(parameters, {.weight_decay = 0.1});
  set_gradient(parameters[1].value, Tensor::full({13}, 1));
  EXPECT_TRUE(optimizer.step(0.01, 1).is_applied);
  EXPECT_TRUE(same_bits(parameters[0].value, before));
}

TEST(Optimizer, RefusesParametersThatAskForNoGradient) {
  EXPECT_THROW(Optimizer({{"fixed", Tensor::zeros({2})}}, {}), Error);
}

}  // namespace
}  // namespace heed::train
