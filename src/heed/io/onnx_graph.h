// ONNX files: a graph of operations and its constants, which ONNX Runtime and others run.
//
//   OnnxGraph graph("heed");
//   const auto x = graph.input("x", OnnxType::f32, {"batch", "4"});
//   const auto w = graph.weights("w", {4, 2}, values);
//   graph.output("y", graph.node("MatMul", {x, w}), OnnxType::f32, {"batch", "2"});
//   graph.write(path);
//
// Operations are those of opset 17 of the standard. Values have names; those of nodes are numbered.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heed/io/protobuf_writer.h"

namespace heed::io {

enum class OnnxType : std::uint64_t { f32 = 1, i64 = 7, f16 = 10 };  // numbers of the format

struct OnnxAttribute {
  std::string_view name;
  std::variant<std::int64_t, float, std::vector<std::int64_t>> value;
};

class OnnxGraph {
 public:
  using Value = std::string;              // its name
  using Axes = std::vector<std::string>;  // a size, or the name of one that may vary
  using Shape = std::vector<std::int64_t>;

  explicit OnnxGraph(std::string_view name);

  Value input(std::string name, OnnxType type, const Axes& axes);
  // A node gives the value this name.
  void output(const std::string& name, const Value& value, OnnxType type, const Axes& axes);

  // Constants. Weights may be stored as f16, and are cast back to f32.
  Value weights(std::string name, const Shape& shape, std::span<const float> values,
                OnnxType stored = OnnxType::f32);
  Value integers(const std::vector<std::int64_t>& values);  // [count]
  Value integer(std::int64_t value);                        // []
  Value real(float value);                                  // []

  Value node(std::string_view operation, std::span<const Value> inputs,
             std::span<const OnnxAttribute> attributes = {});
  Value node(std::string_view operation, std::initializer_list<Value> inputs,
             std::initializer_list<OnnxAttribute> attributes = {});

  void metadata(std::string_view key, std::string_view value);

  // Replaces `path` in one step (see AtomicFile). Refuses (ErrorKind::model) what is larger than a
  // protobuf message may be, 2 GiB.
  void write(const std::string& path);

 private:
  Value new_name();
  void constant(const std::string& name, OnnxType type, const Shape& shape, std::string_view bytes);
  void add_node(std::string_view operation, std::span<const Value> inputs, const Value& output,
                std::span<const OnnxAttribute> attributes);

  MessageWriter graph_;
  MessageWriter properties_;
  std::uint64_t num_names_ = 0;
};

}  // namespace heed::io
