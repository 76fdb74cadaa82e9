// Modules and their parameters: one list of them, visited by name.
//
// A module is any class with `void visit_parameters(ParameterVisitor&)`. Saving, loading, counting
// and the optimizer all use that one list. Names join with dots:
// decoder.2.cross_attention.query.weight.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/core/tensor.h"
#include "heed/nn/weight.h"

namespace heed::nn {

class ParameterVisitor {
 public:
  virtual ~ParameterVisitor() = default;

  void parameter(std::string_view name, Tensor& value) { visit(full_name(name), value); }
  void parameter(std::string_view name, Weight& weight) { visit_weight(full_name(name), weight); }

  template <typename Module>
  void child(std::string_view name, Module& module) {
    const std::size_t length = prefix_.size();
    prefix_ = full_name(name) + '.';
    module.visit_parameters(*this);
    prefix_.resize(length);
  }

 protected:
  virtual void visit(const std::string& name, Tensor& value) = 0;
  // By default a weight is like any other parameter, and a quantized one is refused.
  virtual void visit_weight(const std::string& name, Weight& weight) {
    check(weight.values.is_defined(), name,
          ": expected floats, which can be trained, found a quantized weight");
    visit(name, weight.values);
  }

 private:
  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
};

struct NamedTensor {
  std::string name;
  Tensor value;                   // shares its values with the module's own
  bool can_be_quantized = false;  // a weight matrix
};

// All parameters of a module, in the order of visiting. Refuses quantized weights.
template <typename Module>
std::vector<NamedTensor> named_parameters(Module& module) {
  struct Collector : ParameterVisitor {
    std::vector<NamedTensor> parameters;
    void visit(const std::string& name, Tensor& value) override {
      parameters.push_back({name, value});
    }
  } collector;
  module.visit_parameters(collector);
  return std::move(collector.parameters);
}

}  // namespace heed::nn
