// Looking at a module's parameters, and putting others in their place.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/nn/module.h"
#include "support/gradient_check.h"

namespace heed::nn {

template <typename Module>
std::vector<std::string> parameter_names(Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : named_parameters(module)) names.push_back(parameter.name);
  return names;
}

// The module computes with these tensors from now on: its parameters, in the order of visiting.
template <typename Module>
void set_parameters(Module& module, std::span<const Tensor> values) {
  struct Setter : ParameterVisitor {
    std::span<const Tensor> values;
    std::size_t next = 0;
    void visit(const std::string&, Tensor& value) override { value = values[next++]; }
  } setter;
  setter.values = values;
  module.visit_parameters(setter);
}

// x, then values of no special kind for every parameter.
template <typename Module>
Inputs sample_inputs(Module& module, const Tensor& x) {
  Inputs inputs{x};
  for (const NamedTensor& parameter : named_parameters(module)) {
    inputs.push_back(sample(parameter.value.shape(), inputs.size() + 10));
  }
  return inputs;
}

}  // namespace heed::nn
