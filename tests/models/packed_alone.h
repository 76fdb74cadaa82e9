// Models for inference hold every weight once.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/nn/module.h"

namespace heed::models {

// The weights of a model, as it holds them.
template <typename Model>
std::vector<nn::Weight> weights_of(const Model& model) {
  struct Collector : nn::ParameterVisitor {
    std::vector<nn::Weight> weights;
    void visit(const std::string&, Tensor&) override {}
    void visit_weight(const std::string&, nn::Weight& weight) override {
      weights.push_back(weight);
    }
  } collector;
  Model shared = model;
  shared.visit_parameters(collector);
  return collector.weights;
}

// Is every weight there once, packed in this format?
template <typename Model>
void expect_packed_alone(const Model& model, WeightFormat format) {
  for (const nn::Weight& weight : weights_of(model)) {
    EXPECT_FALSE(weight.values.is_defined());
    ASSERT_TRUE(weight.packed.is_defined());
    EXPECT_EQ(weight.packed.format(), format);
  }
}

}  // namespace heed::models
