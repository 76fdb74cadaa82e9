// The layers of our networks as nodes of an ONNX graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/io/onnx_graph.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/module.h"

namespace heed::models {

using OnnxValue = io::OnnxGraph::Value;

class OnnxLayers {
 public:
  // `parameters`: all of the model. Weight matrices are stored in the type `stored`.
  OnnxLayers(io::OnnxGraph& graph, std::vector<nn::NamedTensor> parameters, io::OnnxType stored);

  bool has(const std::string& name) const { return parameters_.contains(name); }
  const Tensor& parameter(const std::string& name) const;

  // A parameter as a constant of the graph, once. A matrix [O, I] of a linear layer comes as
  // [I, O].
  OnnxValue constant(const std::string& name);
  OnnxValue table(const std::string& name, float factor = 1);

  OnnxValue linear(const std::string& name, const OnnxValue& x);  // [..., I] -> [..., O]
  OnnxValue norm(const std::string& name, const OnnxValue& x, const nn::NormOptions& options);
  OnnxValue activation(Activation activation, const OnnxValue& x);

  OnnxValue add(const OnnxValue& a, const OnnxValue& b) { return graph_.node("Add", {a, b}); }
  OnnxValue multiply(const OnnxValue& a, const OnnxValue& b) { return graph_.node("Mul", {a, b}); }
  OnnxValue scale(const OnnxValue& x, float factor);
  OnnxValue reshape(const OnnxValue& x, const std::vector<std::int64_t>& shape);
  OnnxValue transpose(const OnnxValue& x, const std::vector<std::int64_t>& axes);
  OnnxValue unsqueeze(const OnnxValue& x, const std::vector<std::int64_t>& axes);
  OnnxValue sum(const OnnxValue& x, std::int64_t axis, bool keeps_axis);
  OnnxValue slice(const OnnxValue& x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  OnnxValue concat(const std::vector<OnnxValue>& parts, std::int64_t axis);
  OnnxValue cast(const OnnxValue& x, io::OnnxType type);
  OnnxValue size(const OnnxValue& x, std::int64_t axis);  // [1]

  io::OnnxGraph& graph() { return graph_; }

 private:
  OnnxValue gelu_tanh(const OnnxValue& x);

  io::OnnxGraph& graph_;
  io::OnnxType stored_;
  std::map<std::string, Tensor> parameters_;
  std::map<std::string, OnnxValue> constants_;
};

}  // namespace heed::models
