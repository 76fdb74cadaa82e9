// Reads ONNX files back as far as tests of what we write need it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/message_reader.h"

namespace heed {

struct OnnxTensor {
  std::uint64_t type = 0;  // 1 float, 7 int64, 10 float16
  std::vector<std::int64_t> shape;
  std::string bytes;

  std::vector<float> floats() const {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }
};

struct OnnxNode {
  std::string operation;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::string> attributes;  // serialised
};

struct OnnxFile {
  std::uint64_t ir_version = 0, opset = 0;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::vector<std::string>> inputs, outputs;  // names and axes
  std::map<std::string, OnnxTensor> constants;
  std::vector<OnnxNode> nodes;
  bool is_damaged = false;

  explicit OnnxFile(std::string_view bytes) {
    for_each(bytes, [&](const text::MessageReader& field) {
      if (field.field == 1) ir_version = field.number;
      if (field.field == 7) read_graph(field.content);
      if (field.field == 8) {
        for_each(field.content, [&](const auto& set) {
          if (set.field == 2) opset = set.number;
        });
      }
      if (field.field == 14) metadata[text_of(field.content, 1)] = text_of(field.content, 2);
    });
  }

 private:
  template <typename Work>
  void for_each(std::string_view message, Work&& work) {
    text::MessageReader reader(message);
    while (reader.next()) work(reader);
    is_damaged = is_damaged || reader.is_damaged();
  }

  std::string text_of(std::string_view message, std::uint64_t wanted) {
    text::MessageReader reader(message);
    return reader.find(wanted) ? std::string(reader.content) : std::string();
  }

  void read_graph(std::string_view graph) {
    for_each(graph, [&](const text::MessageReader& field) {
      if (field.field == 1) nodes.push_back(node(field.content));
      if (field.field == 5) constants[text_of(field.content, 8)] = tensor(field.content);
      if (field.field == 11) inputs[text_of(field.content, 1)] = axes(field.content);
      if (field.field == 12) outputs[text_of(field.content, 1)] = axes(field.content);
    });
  }

  OnnxNode node(std::string_view message) {
    OnnxNode made;
    for_each(message, [&](const text::MessageReader& field) {
      if (field.field == 1) made.inputs.emplace_back(field.content);
      if (field.field == 2) made.outputs.emplace_back(field.content);
      if (field.field == 4) made.operation = field.content;
      if (field.field == 5) made.attributes[text_of(field.content, 1)] = field.content;
    });
    return made;
  }

  OnnxTensor tensor(std::string_view message) {
    OnnxTensor made;
    for_each(message, [&](const text::MessageReader& field) {
      if (field.field == 1) made.shape.push_back(static_cast<std::int64_t>(field.number));
      if (field.field == 2) made.type = field.number;
      if (field.field == 9) made.bytes = field.content;
    });
    return made;
  }

  // ValueInfo.type.tensor_type.shape.dim
  std::vector<std::string> axes(std::string_view message) {
    std::vector<std::string> names;
    const std::string type = text_of(message, 2), tensor_type = text_of(type, 1);
    for_each(text_of(tensor_type, 2), [&](const text::MessageReader& axis) {
      for_each(axis.content, [&](const text::MessageReader& size) {
        names.push_back(size.field == 1 ? std::to_string(size.number) : std::string(size.content));
      });
    });
    return names;
  }
};

}  // namespace heed
