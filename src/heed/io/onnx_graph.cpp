#include "heed/io/onnx_graph.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/io/files.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw data are numbers as they are in memory");

// Numbers of the fields of the format's messages.
namespace model_field {
constexpr int ir_version = 1, producer = 2, graph = 7, opset = 8, metadata = 14;
}
namespace graph_field {
constexpr int node = 1, name = 2, initializer = 5, input = 11, output = 12;
}
namespace node_field {
constexpr int input = 1, output = 2, operation = 4, attribute = 5;
}
namespace attribute_field {
constexpr int name = 1, real = 2, integer = 3, integers = 8, type = 20;
}
namespace tensor_field {
constexpr int axis = 1, type = 2, name = 8, bytes = 9;
}

// The value of an input or an output: its name and its type, an element type with axes.
std::string value_info(std::string_view name, OnnxType type, const OnnxGraph::Axes& axes) {
  constexpr int name_field = 1, type_field = 2, tensor_type = 1, element = 1, shape_field = 2;
  constexpr int axis_field = 1, size_field = 1, size_name_field = 2;
  MessageWriter shape;
  for (const std::string& axis : axes) {
    MessageWriter message;
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), size);
    if (error == std::errc() && end == axis.data() + axis.size()) {
      message.number(size_field, size);
    } else {
      message.bytes(size_name_field, axis);
    }
    shape.bytes(axis_field, message.content);
  }
  MessageWriter tensor, any_type, info;
  tensor.number(element, static_cast<std::uint64_t>(type));
  tensor.bytes(shape_field, shape.content);
  any_type.bytes(tensor_type, tensor.content);
  info.bytes(name_field, name);
  info.bytes(type_field, any_type.content);
  return info.content;
}

std::uint64_t bits_of(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }

std::string attribute_message(const OnnxAttribute& attribute) {
  constexpr std::uint64_t real_type = 1, integer_type = 2, integers_type = 7;
  MessageWriter message;
  message.bytes(attribute_field::name, attribute.name);
  if (const auto* real = std::get_if<float>(&attribute.value)) {
    message.real(attribute_field::real, *real);
    message.number(attribute_field::type, real_type);
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    message.number(attribute_field::integer, bits_of(*integer));
    message.number(attribute_field::type, integer_type);
  } else {
    for (const std::int64_t one : std::get<std::vector<std::int64_t>>(attribute.value)) {
      message.number(attribute_field::integers, bits_of(one));
    }
    message.number(attribute_field::type, integers_type);
  }
  return message.content;
}

template <typename Number>
std::string_view bytes_of(std::span<const Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

OnnxGraph::OnnxGraph(std::string_view name) { graph_.bytes(graph_field::name, name); }

OnnxGraph::Value OnnxGraph::new_name() { return "v" + std::to_string(num_names_++); }

OnnxGraph::Value OnnxGraph::input(std::string name, OnnxType type, const Axes& axes) {
  graph_.bytes(graph_field::input, value_info(name, type, axes));
  return name;
}

void OnnxGraph::output(const std::string& name, const Value& value, OnnxType type,
                       const Axes& axes) {
  const Value inputs[] = {value};
  add_node("Identity", inputs, name, {});
  graph_.bytes(graph_field::output, value_info(name, type, axes));
}

void OnnxGraph::constant(const std::string& name, OnnxType type, const Shape& shape,
                         std::string_view bytes) {
  MessageWriter tensor;
  for (const std::int64_t size : shape) tensor.number(tensor_field::axis, bits_of(size));
  tensor.number(tensor_field::type, static_cast<std::uint64_t>(type));
  tensor.bytes(tensor_field::name, name);
  tensor.bytes_head(tensor_field::bytes, bytes.size());
  graph_.bytes_head(graph_field::initializer, tensor.content.size() + bytes.size());
  graph_.content += tensor.content;
  graph_.content += bytes;
}

OnnxGraph::Value OnnxGraph::weights(std::string name, const Shape& shape,
                                    std::span<const float> values, OnnxType stored) {
  if (stored == OnnxType::f32) {
    constant(name, stored, shape, bytes_of(values));
    return name;
  }
  std::vector<std::uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values) {
    constexpr float largest = 65504;
    check_as(ErrorKind::model, std::abs(value) <= largest, name, ": expected numbers up to ",
             largest, " for weights of f16, found ", value);
    halves.push_back(float_to_float16(value));
  }
  constant(name, OnnxType::f16, shape, bytes_of(std::span<const std::uint16_t>(halves)));
  return node("Cast", {name}, {{"to", static_cast<std::int64_t>(OnnxType::f32)}});
}

OnnxGraph::Value OnnxGraph::integers(const std::vector<std::int64_t>& values) {
  const Value name = new_name();
  constant(name, OnnxType::i64, {std::ssize(values)},
           bytes_of(std::span<const std::int64_t>(values)));
  return name;
}

OnnxGraph::Value OnnxGraph::integer(std::int64_t value) {
  const Value name = new_name();
  constant(name, OnnxType::i64, {}, bytes_of(std::span<const std::int64_t>(&value, 1)));
  return name;
}

OnnxGraph::Value OnnxGraph::real(float value) {
  const Value name = new_name();
  constant(name, OnnxType::f32, {}, bytes_of(std::span<const float>(&value, 1)));
  return name;
}

void OnnxGraph::add_node(std::string_view operation, std::span<const Value> inputs,
                         const Value& output, std::span<const OnnxAttribute> attributes) {
  MessageWriter node;
  for (const Value& input : inputs) node.bytes(node_field::input, input);
  node.bytes(node_field::output, output);
  node.bytes(node_field::operation, operation);
  for (const OnnxAttribute& attribute : attributes) {
    node.bytes(node_field::attribute, attribute_message(attribute));
  }
  graph_.bytes(graph_field::node, node.content);
}

OnnxGraph::Value OnnxGraph::node(std::string_view operation, std::span<const Value> inputs,
                                 std::span<const OnnxAttribute> attributes) {
  const Value output = new_name();
  add_node(operation, inputs, output, attributes);
  return output;
}

OnnxGraph::Value OnnxGraph::node(std::string_view operation, std::initializer_list<Value> inputs,
                                 std::initializer_list<OnnxAttribute> attributes) {
  return node(operation, std::span(inputs.begin(), inputs.size()),
              std::span(attributes.begin(), attributes.size()));
}

void OnnxGraph::metadata(std::string_view key, std::string_view value) {
  constexpr int key_field = 1, value_field = 2;
  MessageWriter entry;
  entry.bytes(key_field, key);
  entry.bytes(value_field, value);
  properties_.bytes(model_field::metadata, entry.content);
}

void OnnxGraph::write(const std::string& path) {
  constexpr std::uint64_t ir_version = 8, opset_version = 17;
  constexpr int version_field = 2;
  MessageWriter opset, head;
  opset.number(version_field, opset_version);
  head.number(model_field::ir_version, ir_version);
  head.bytes(model_field::producer, "heed");
  head.bytes(model_field::opset, opset.content);
  head.content += properties_.content;
  head.bytes_head(model_field::graph, graph_.content.size());
  const std::uint64_t size = head.content.size() + graph_.content.size();
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  check_as(ErrorKind::model, size <= most, path, ": expected a model of at most ", most,
           " bytes for ONNX, found ", size);
  AtomicFile file(path);
  file.write(head.content);
  file.write(graph_.content);
  file.commit();
}

}  // namespace heed::io
