// What every layer with parameters offers: one list of them, visited by name.
//
// A module is any class with `void visit_parameters(ParameterVisitor&)`. Saving, loading, counting,
// the optimizer and Python all use that one list. Names join with dots:
// decoder.2.cross_attention.query.weight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/core/tensor.h"
#include "heed/ops/packed_matrix.h"

namespace heed::nn {

class ParameterVisitor {
 public:
  virtual ~ParameterVisitor() = default;

  void parameter(std::string_view name, Tensor& value) { visit(joined(name), value); }
  // A weight [O, I] that may have a packed form: beside the floats, or, in fewer bits, alone.
  void parameter(std::string_view name, Tensor& value, ops::PackedMatrix& packed) {
    visit_weight(joined(name), value, packed);
  }

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
  // Unless told otherwise a weight is like any other parameter, and refused without its floats.
  virtual void visit_weight(const std::string& name, Tensor& value, ops::PackedMatrix&) {
    check(value.is_defined(), name,
          ": expected floats, which can be trained, found a weight in fewer bits");
    visit(name, value);
  }

 private:
  std::string joined(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
};

struct NamedTensor {
  std::string name;
  Tensor value;                   // shares its values with the module's own
  bool can_be_quantized = false;  // a weight, which may be kept in fewer bits
};

// All parameters of a module, in the order of visiting. Refuses weights in fewer bits.
template <typename Module>
std::vector<NamedTensor> named_parameters(Module& module) {
  struct Collector : ParameterVisitor {
    std::vector<NamedTensor> found;
    void visit(const std::string& name, Tensor& value) override { found.push_back({name, value}); }
  } collector;
  module.visit_parameters(collector);
  return std::move(collector.found);
}

// The same to read: weights in fewer bits come as floats of their own.
template <typename Module>
std::vector<NamedTensor> dequantized_parameters(Module& module) {
  struct Collector : ParameterVisitor {
    std::vector<NamedTensor> found;
    void visit(const std::string& name, Tensor& value) override { found.push_back({name, value}); }
    void visit_weight(const std::string& name, Tensor& value, ops::PackedMatrix& packed) override {
      found.push_back({name, value.is_defined() ? value : packed.dequantize(), true});
    }
  } collector;
  module.visit_parameters(collector);
  return std::move(collector.found);
}

// Gives every weight its packed form, which products then use while nothing is recorded. The module
// must not change any more: its parameters lose their gradients, so that nobody trains it by
// mistake, while those of its copies keep them.
template <typename Module>
void pack_weights(Module& module) {
  struct Packer : ParameterVisitor {
    void visit(const std::string&, Tensor& value) override { value = value.detach(); }
    void visit_weight(const std::string&, Tensor& value, ops::PackedMatrix& packed) override {
      if (!value.is_defined()) return;  // in fewer bits, and packed already
      value = value.detach();
      packed = ops::PackedMatrix(value);
    }
  } packer;
  module.visit_parameters(packer);
}

// Keeps every weight in the nearest numbers of the format, which is not f32, and no longer as
// floats. The other parameters lose their gradients: such a module cannot be trained.
template <typename Module>
void quantize_weights(Module& module, ops::WeightFormat format) {
  struct Quantizer : ParameterVisitor {
    ops::WeightFormat format;
    void visit(const std::string&, Tensor& value) override { value = value.detach(); }
    void visit_weight(const std::string&, Tensor& value, ops::PackedMatrix& packed) override {
      packed = ops::PackedMatrix(value.is_defined() ? value : packed.dequantize(), format);
      value = Tensor();
    }
  } quantizer;
  quantizer.format = format;
  module.visit_parameters(quantizer);
}

}  // namespace heed::nn
