// Packing and quantization of a module's weights, for inference.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/nn/module.h"

namespace heed::nn {

// All parameters of a module, to read: quantized weights come dequantized.
template <typename Module>
std::vector<NamedTensor> dequantized_parameters(Module& module) {
  struct Collector : ParameterVisitor {
    std::vector<NamedTensor> parameters;
    void visit(const std::string& name, Tensor& value) override {
      parameters.push_back({name, value});
    }
    void visit_weight(const std::string& name, Weight& weight) override {
      parameters.push_back({name, weight.floats(), /*can_be_quantized=*/true});
    }
  } collector;
  module.visit_parameters(collector);
  return std::move(collector.parameters);
}

// Gives every weight its packed form, which products then use unless gradients are enabled. The
// module must not change any more: its parameters no longer require gradients, so that it
// is not trained by mistake, while those of its copies still do.
template <typename Module>
void pack_weights(Module& module) {
  struct Packer : ParameterVisitor {
    void visit(const std::string&, Tensor& value) override { value = value.detach(); }
    void visit_weight(const std::string&, Weight& weight) override {
      if (!weight.values.is_defined()) return;  // quantized, and packed already
      weight.values = weight.values.detach();
      weight.packed = ops::PackedMatrix(weight.values);
    }
  } packer;
  module.visit_parameters(packer);
}

// Rounds every weight to the nearest numbers of the format, which is not f32, and drops the floats.
// The other parameters no longer require gradients: such a module cannot be trained.
template <typename Module>
void quantize_weights(Module& module, WeightFormat format) {
  struct Quantizer : ParameterVisitor {
    WeightFormat format;
    void visit(const std::string&, Tensor& value) override { value = value.detach(); }
    void visit_weight(const std::string&, Weight& weight) override {
      weight = {Tensor(), ops::PackedMatrix(weight.floats(), format)};
    }
  } quantizer;
  quantizer.format = format;
  module.visit_parameters(quantizer);
}

}  // namespace heed::nn
