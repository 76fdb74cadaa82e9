#include "heed/models/onnx_layers.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed::models {
namespace {

io::OnnxGraph::Shape shape_of(const Tensor& tensor) {
  return {tensor.shape().sizes().begin(), tensor.shape().sizes().end()};
}

// [O, I] -> [I, O].
std::vector<float> transpose_matrix(const Tensor& matrix) {
  const Index rows = matrix.dim(0), cols = matrix.dim(1);
  std::vector<float> values(matrix.values().size());
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      values[static_cast<std::size_t>(col * rows + row)] = matrix.data()[row * cols + col];
    }
  }
  return values;
}

}  // namespace

OnnxLayers::OnnxLayers(io::OnnxGraph& graph, std::vector<nn::NamedTensor> parameters,
                       io::OnnxType stored)
    : graph_(graph), stored_(stored) {
  for (nn::NamedTensor& parameter : parameters) {
    parameters_.emplace(std::move(parameter.name), std::move(parameter.value));
  }
}

const Tensor& OnnxLayers::parameter(const std::string& name) const {
  const auto found = parameters_.find(name);
  check(found != parameters_.end(), "ONNX: expected the parameter ", name);
  return found->second;
}

OnnxValue OnnxLayers::constant(const std::string& name) {
  const auto found = constants_.find(name);
  if (found != constants_.end()) return found->second;
  const Tensor& value = parameter(name);
  const OnnxValue made = value.rank() == 2 ? graph_.weights(name, {value.dim(1), value.dim(0)},
                                                            transpose_matrix(value), stored_)
                                           : graph_.weights(name, shape_of(value), value.values());
  return constants_.emplace(name, made).first->second;
}

OnnxValue OnnxLayers::table(const std::string& name, float factor) {
  const Tensor& value = parameter(name);
  const Tensor scaled = factor == 1 ? value : ops::scale(value.detach(), factor);
  return graph_.weights(name, shape_of(value), scaled.values(), stored_);
}

OnnxValue OnnxLayers::linear(const std::string& name, const OnnxValue& x) {
  const OnnxValue y = graph_.node("MatMul", {x, constant(name + ".weight")});
  return has(name + ".bias") ? add(y, constant(name + ".bias")) : y;
}

OnnxValue OnnxLayers::norm(const std::string& name, const OnnxValue& x,
                           const nn::NormOptions& options) {
  OnnxValue gain = constant(name + ".gain");
  if (options.has_unit_offset) gain = add(gain, graph_.real(1));
  if (options.kind == NormKind::layer) {
    std::vector<OnnxValue> inputs{x, gain};
    if (has(name + ".bias")) inputs.push_back(constant(name + ".bias"));
    const io::OnnxAttribute attributes[] = {{"axis", std::int64_t{-1}},
                                            {"epsilon", options.epsilon}};
    return graph_.node("LayerNormalization", inputs, attributes);
  }
  const OnnxValue square =
      graph_.node("ReduceMean", {multiply(x, x)},
                  {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
  const OnnxValue root = graph_.node("Sqrt", {add(square, graph_.real(options.epsilon))});
  return multiply(graph_.node("Div", {x, root}), gain);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
OnnxValue OnnxLayers::gelu_tanh(const OnnxValue& x) {
  constexpr float cubic = 0.044715f;
  const float root = std::sqrt(2 / std::numbers::pi_v<float>);
  const OnnxValue cube = scale(multiply(x, multiply(x, x)), cubic);
  const OnnxValue tanh = graph_.node("Tanh", {scale(add(x, cube), root)});
  return multiply(scale(x, 0.5f), add(tanh, graph_.real(1)));
}

OnnxValue OnnxLayers::activation(Activation activation, const OnnxValue& x) {
  switch (activation) {
    case Activation::relu:
      return graph_.node("Relu", {x});
    case Activation::gelu: {  // 0.5 x (1 + erf(x / sqrt(2)))
      const OnnxValue erf = graph_.node("Erf", {scale(x, 1 / std::numbers::sqrt2_v<float>)});
      return multiply(scale(x, 0.5f), add(erf, graph_.real(1)));
    }
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::quick_gelu:
      return multiply(x, graph_.node("Sigmoid", {scale(x, 1.702f)}));
    case Activation::silu:
    case Activation::swiglu:
      break;
  }
  return multiply(x, graph_.node("Sigmoid", {x}));
}

OnnxValue OnnxLayers::scale(const OnnxValue& x, float factor) {
  return factor == 1 ? x : multiply(x, graph_.real(factor));
}

OnnxValue OnnxLayers::reshape(const OnnxValue& x, const std::vector<std::int64_t>& shape) {
  return graph_.node("Reshape", {x, graph_.integers(shape)});
}

OnnxValue OnnxLayers::transpose(const OnnxValue& x, const std::vector<std::int64_t>& axes) {
  return graph_.node("Transpose", {x}, {{"perm", axes}});
}

OnnxValue OnnxLayers::unsqueeze(const OnnxValue& x, const std::vector<std::int64_t>& axes) {
  return graph_.node("Unsqueeze", {x, graph_.integers(axes)});
}

OnnxValue OnnxLayers::sum(const OnnxValue& x, std::int64_t axis, bool keeps_axis) {
  return graph_.node("ReduceSum", {x, graph_.integers({axis})},
                     {{"keepdims", std::int64_t{keeps_axis ? 1 : 0}}});
}

OnnxValue OnnxLayers::slice(const OnnxValue& x, std::int64_t axis, std::int64_t begin,
                            std::int64_t end) {
  return graph_.node(
      "Slice", {x, graph_.integers({begin}), graph_.integers({end}), graph_.integers({axis})});
}

OnnxValue OnnxLayers::concat(const std::vector<OnnxValue>& parts, std::int64_t axis) {
  const io::OnnxAttribute attributes[] = {{"axis", axis}};
  return graph_.node("Concat", parts, attributes);
}

OnnxValue OnnxLayers::cast(const OnnxValue& x, io::OnnxType type) {
  return graph_.node("Cast", {x}, {{"to", static_cast<std::int64_t>(type)}});
}

OnnxValue OnnxLayers::size(const OnnxValue& x, std::int64_t axis) {
  return graph_.node("Gather", {graph_.node("Shape", {x}), graph_.integers({axis})});
}

}  // namespace heed::models
