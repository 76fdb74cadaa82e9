// What every layer with parameters offers: one list of them, visited by name.
//
// A module is any class with `void visit_parameters(ParameterVisitor&)`. Saving, loading, counting,
// the optimizer and Python all use that one list. Names join with dots:
// decoder.2.cross_attention.query.weight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::nn {

class ParameterVisitor {
 public:
  virtual ~ParameterVisitor() = default;

  void parameter(std::string_view name, Tensor& value) { visit(joined(name), value); }

  template <typename Module>
  void child(std::string_view name, Module& module) {
    const std::size_t length = prefix_.size();
    prefix_ = joined(name) + '.';
    module.visit_parameters(*this);
    prefix_.resize(length);
  }
  // Children 0, 1, 2 ... of one name.
  template <typename Modules>
  void children(std::string_view name, Modules& modules) {
    std::size_t number = 0;
    for (auto& module : modules) child(std::string(name) + '.' + std::to_string(number++), module);
  }

 protected:
  virtual void visit(const std::string& name, Tensor& value) = 0;

 private:
  std::string joined(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
};

struct NamedTensor {
  std::string name;
  Tensor value;  // shares its values with the module's own
};

// All parameters of a module, in the order of visiting.
template <typename Module>
std::vector<NamedTensor> named_parameters(Module& module) {
  struct Collector : ParameterVisitor {
    std::vector<NamedTensor> found;
    void visit(const std::string& name, Tensor& value) override { found.push_back({name, value}); }
  } collector;
  module.visit_parameters(collector);
  return std::move(collector.found);
}

}  // namespace heed::nn
